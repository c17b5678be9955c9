// Prints dashboards as constants of the types that Grafana publishes for them, for
// the TypeScript compiler to find fields that do not exist and values that are not
// among those allowed. What a panel leaves out has a default, so everything is optional.
import {readFileSync} from 'node:fs'

const types = '@grafana/schema/dist/types/raw'
console.log(`
import type {Dashboard, Panel, RowPanel} from '${types}/dashboard/x/types.gen'
import type * as timeseries from '${types}/composable/timeseries/panelcfg/x/types.gen'
import type * as stat from '${types}/composable/stat/panelcfg/x/types.gen'
import type * as table from '${types}/composable/table/panelcfg/x/types.gen'

// JSON has the values of enumerations, not their names.
type Json<T> = T extends string ? \`\${T}\`
  : T extends number | boolean | null | undefined ? T
  : T extends (infer U)[] ? Json<U>[]
  : T extends object ? {[K in keyof T]?: Json<T[K]>}
  : T
`)

const print = (type, value) => console.log(`{ const it: Json<${type}> = ${JSON.stringify(value)} }`)

for (const file of process.argv.slice(2)) {
  console.log(`// ${file}`)
  const {panels, ...dashboard} = JSON.parse(readFileSync(file, 'utf8'))
  print(`Omit<Dashboard, 'panels'>`, dashboard)
  for (const panel of panels) {
    if (panel.type === 'row') {
      print('RowPanel', panel)
      continue
    }
    const {options, ...rest} = panel
    const {custom, ...defaults} = panel.fieldConfig.defaults
    print('Panel', {...rest, fieldConfig: {...panel.fieldConfig, defaults}})
    print(`${panel.type}.Options`, options)
    if (custom) print(`${panel.type}.FieldConfig`, custom)
  }
}
