// Makes the calls of the scenario with analytics-node, the legacy client.
import { readFileSync } from 'node:fs'
import Analytics from 'analytics-node'

const { MODE, SCENARIO } = process.env
const calls = JSON.parse(readFileSync(SCENARIO, 'utf8'))

// snippet:begin
const analytics = new Analytics(process.env.WRITE_KEY, {
  host: process.env.ENDPOINT,
  ...(MODE === 'each' ? { flushAt: 1 } : {}), // test only
})
// snippet:end

// A call's callback comes when its batch was accepted or given up.
const sent = calls.map(({ mark, type, filtered, timestamp, ...call }) => {
  if (timestamp) call.timestamp = new Date(timestamp)
  return new Promise((resolve, reject) => {
    analytics[type](call, (error) => (error ? reject(new Error(`${mark}: given up`, { cause: error })) : resolve()))
  })
})
// One flush takes one batch at most.
while (analytics.queue.length > 0) await analytics.flush()
await Promise.all(sent)
