#!/usr/bin/env bash
# Has Ajv, the validator that most JavaScript uses, take every published JSON Schema in
# its strict mode, which refuses what is legal and yet easily a mistake.
#
# Needs Node and npm. Ajv is installed from npm into .sdk/, once.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

readonly ajv=8.20.0
readonly cache=$PWD/.sdk/ajv-$ajv
[ -d "$cache/node_modules/ajv" ] || {
  echo "installing ajv $ajv into $cache"
  npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$cache" "ajv@$ajv"
}
node scripts/schemas/strict.mjs "$cache"
