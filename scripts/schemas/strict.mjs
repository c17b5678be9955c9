// Has Ajv compile every published JSON Schema in its strict mode, and validate the
// examples that they have: strict.mjs FOLDER_OF_AJV. The schemas are those below schemas/.
import { readFileSync, readdirSync } from 'node:fs'
import { createRequire } from 'node:module'

const require = createRequire(`${process.argv[2]}/`)
const options = { strict: true, allErrors: true }
const read = (name) => JSON.parse(readFileSync(`schemas/${name}`, 'utf8'))
const below = (folder) => readdirSync(`schemas/${folder}`).map((name) => `${folder}/${name}`)

const drafts = {
  'https://json-schema.org/draft/2020-12/schema': require('ajv/dist/2020').default,
  'http://json-schema.org/draft-07/schema#': require('ajv').default,
}
const calls = below('calls')
let examples = 0

// check compiles one schema, with those that it refers to.
function check(name, others = []) {
  const schema = read(name)
  const ajv = new drafts[schema.$schema](options)
  for (const other of others) ajv.addSchema(read(other))
  const validate = ajv.compile(schema)
  for (const example of schema.examples ?? []) {
    if (!validate(example)) throw new Error(`an example: ${ajv.errorsText(validate.errors)}`)
    examples += 1
  }
}

const all = [...[...calls, ...below('deliveries'), 'workspace.schema.json'].map((name) => [name]), ['batch.json', calls]]
for (const [name, others] of all) {
  try {
    check(name, others)
  } catch (error) {
    console.error(`schemas/${name}: ${error.message}`)
    process.exitCode = 1
  }
}
if (process.exitCode) process.exit()
if (examples < calls.length) throw new Error(`found ${examples} examples, expected one of each call at least`)
console.log(`schemas: Ajv takes ${all.length} in its strict mode, and ${examples} examples`)
