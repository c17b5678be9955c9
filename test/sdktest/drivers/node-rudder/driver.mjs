// Makes the calls of the scenario with @rudderstack/rudder-sdk-node.
import { readFileSync } from 'node:fs'
import RudderAnalytics from '@rudderstack/rudder-sdk-node'

const { GZIP, MODE, SCENARIO } = process.env
const calls = JSON.parse(readFileSync(SCENARIO, 'utf8'))

// snippet:begin
const analytics = new RudderAnalytics(process.env.WRITE_KEY, {
  dataPlaneUrl: process.env.ENDPOINT,
  gzip: GZIP === 'on', // test only
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
