package wstest

// File is the workspace [CRM] as people write it; its secret is in the variable
// CRM_SECRET. It uses every key.
const File = `sources:
  - id: website
    name: Website
    writeKey: wk_website
    enabled: true
    identity: {blocked: [guest]}
    trackingPlan:
      action: block
      events:
        Order Completed:
          properties:
            order_id: {type: string, required: true}
            total: {type: number, required: false}
          additionalProperties: false
        Signed Out: {}
      additionalEvents: true
      identify:
        traits:
          e-mail: {required: true}
        additionalTraits: true
      group:
        traits: {}
        additionalTraits: false
      page:
        properties: {url: {type: string}}
      screen:
        properties: {size: {type: integer}}
destinations:
  - id: crm
    type: webhooks
    name: CRM
    sources: [website]
    enabled: true
    sharedSecret: {env: CRM_SECRET}
    endpoints:
      - url: https://crm.example.com/hooks/events
        headers: {X-Team: growth}
`
