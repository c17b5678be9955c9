package wstest

// File is the workspace [CRM] as people write it; its secret is in the variable
// CRM_SECRET. It uses every key but
// those of definitions, which package definition tests.
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
    sources: [website, personas]
    enabled: true
    sharedSecret: {env: CRM_SECRET}
    endpoints:
      - url: https://crm.example.com/hooks/events
        headers: {X-Team: growth}
  - id: warehouse
    type: topic
    sources: [website]
    topic: {name: shop.calls, partitions: 12, retention: 72h}
  - id: glacier
    type: archive
    sources: [website]
    archive:
      bucket: calls
      endpoint: https://s3.example.com
      region: eu-central-1
      prefix: shop/
      accessKey: {env: CRM_SECRET}
      secretKey: {env: CRM_SECRET}
      maxBytes: 8MiB
      maxAge: 1m
    historical: refuse
    historicalAfter: 48h
  - {id: shelf, type: archive, sources: [], archive: {directory: /var/lib/calls}}
audiences:
  - id: big_spenders
    name: Big Spenders
    when:
      all:
        - {did: Order Completed, take: sum, of: total, is: {gte: 500}, within: 90d, sources: [website]}
        - {not: {trait: plan, is: [staff, test]}}
    stay: 1d
    destinations: [crm]
    on_delete: exit
traits:
  - {name: Orders 30d, take: count, did: Order Completed, where: {total: {gt: 0}}, within: 30d, every: 1h}
identity:
  anonymous_ids: {max: 50, per: 1w}
`
