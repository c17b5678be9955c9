// Makes calls with @segment/analytics-node and says what becomes of them: a line
// "sent" for each request, with the messageIds of its calls, and one for each call
// that the SDK says was accepted or that it gives up.
import { createRequire } from 'node:module'

const { Analytics } = createRequire(process.env.MODULES)('@segment/analytics-node')
const { ENDPOINT, WRITE_KEY, RUN, PRODUCER } = process.env
const [rate, seconds, keys] = [process.env.RATE, process.env.SECONDS, process.env.KEYS].map(Number)
const text = 'storm '.repeat(130)
const say = (what, ids) => console.log(what, ...ids)

const analytics = new Analytics({ writeKey: WRITE_KEY, host: ENDPOINT, flushAt: 10, flushInterval: 100, maxRetries: 10 })
analytics.on('http_request', ({ body }) => say('sent', JSON.parse(body).batch.map((call) => call.messageId)))
analytics.on('error', () => {}) // told to the call that it is about

const begun = performance.now()
let n = 0
const make = () => {
  const elapsed = (performance.now() - begun) / 1000
  for (; n < Math.min(elapsed, seconds) * rate; n++) {
    const key = n % keys
    const messageId = `${RUN}/${PRODUCER}/${key}/${n}/${Date.now() * 1000}`
    const call = { userId: `${PRODUCER}-${key}`, event: 'Storm', properties: { n, text }, messageId }
    analytics.track(call, (error) => say(error ? 'dropped' : 'accepted', [messageId]))
  }
  return elapsed < seconds
}
const timer = setInterval(async () => {
  if (make()) return
  clearInterval(timer)
  await analytics.closeAndFlush({ timeout: 60_000 })
}, 10)
