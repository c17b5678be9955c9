// Makes the calls of the scenario with @segment/analytics-node: the version that
// package.json has under the name in the argument.
import { readFileSync } from 'node:fs'

const { Analytics } = await import(process.argv[2])
const { ENDPOINT, WRITE_KEY, MODE, SCENARIO } = process.env
const calls = JSON.parse(readFileSync(SCENARIO, 'utf8'))

const analytics = new Analytics({
  writeKey: WRITE_KEY,
  host: ENDPOINT,
  ...(MODE === 'each' ? { flushAt: 1 } : {}),
})
analytics.on('error', (error) => {
  console.error('given up:', error)
  process.exitCode = 1
})

for (const { mark, type, filtered, timestamp, ...call } of calls) {
  if (timestamp) call.timestamp = new Date(timestamp)
  analytics[type](call)
}
await analytics.closeAndFlush()
