// Makes the calls of the scenario with analytics-node, the legacy client.
import { readFileSync } from 'node:fs'
import Analytics from 'analytics-node'

const { ENDPOINT, WRITE_KEY, MODE, SCENARIO } = process.env
const calls = JSON.parse(readFileSync(SCENARIO, 'utf8'))

const analytics = new Analytics(WRITE_KEY, {
  host: ENDPOINT,
  ...(MODE === 'each' ? { flushAt: 1 } : {}),
})

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
