// Makes the calls of the scenario with @segment/analytics-node: the version that
// package.json has under the name in the argument.
import { readFileSync } from 'node:fs'

const { Analytics } = await import(process.argv[2])
const { MODE, SCENARIO } = process.env
const calls = JSON.parse(readFileSync(SCENARIO, 'utf8'))

// snippet:begin
const analytics = new Analytics({
  writeKey: process.env.WRITE_KEY,
  host: process.env.ENDPOINT,
  ...(MODE === 'each' ? { flushAt: 1 } : {}), // test only
})
// snippet:end
analytics.on('error', (error) => {
  console.error('given up:', error)
  process.exitCode = 1
})

for (const { mark, type, filtered, timestamp, ...call } of calls) {
  if (timestamp) call.timestamp = new Date(timestamp)
  analytics[type](call)
}
await analytics.closeAndFlush()
