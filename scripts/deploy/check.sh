#!/usr/bin/env bash
# Has those look at deploy/ whose formats it is written in: promtool at the rules, their
# tests and the dashboards' queries; the TypeScript compiler at the dashboards, with
# the types that Grafana publishes; and a schema checker at the manifests, against the
# oldest Kubernetes that they are for and the newest that it knows. The tests of deploy/
# look at the rest.
#
# Needs promtool (Debian: prometheus), jq, Python 3, Node and npm. The schema checker
# and Grafana's types are installed from PyPI and npm into .deploy/, once.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

readonly checker=1.37.0
readonly grafana=12.4.11
readonly typescript=5.9.3
readonly oldest=1.30
readonly cache=.deploy/$checker-$grafana-$typescript # other versions are installed anew
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# quiet COMMAND...: what it says matters when it fails.
quiet() {
  "$@" >"$scratch/output" 2>&1 || { cat "$scratch/output" >&2; echo "deploy-check: $1 $2 found mistakes" >&2; exit 1; }
}

rules() {
  quiet promtool check config deploy/prometheus/prometheus.yml
  quiet promtool check rules --lint=all --lint-fatal deploy/prometheus/rules/*.rules.yml
  quiet promtool test rules deploy/prometheus/tests/*.test.yml
  echo "rules: $(cat deploy/prometheus/rules/*.yml | grep -c -- '- alert:') alerts, $(cat deploy/prometheus/rules/*.yml | grep -c -- '- record:') recorded series, $(cat deploy/prometheus/tests/*.yml | grep -c -- '- name:') tests"
}

# promtool knows no dashboards, so each query is made the expression of a rule, with
# something in the place of Grafana's variables.
dashboards() {
  jq -r '.panels[].targets[]?.expr' deploy/grafana/dashboards/*.json |
    sed 's/\$__rate_interval/5m/g' |
    jq -R -s '{groups: [{name: "dashboards", rules: [split("\n")[] | select(. != "") | {record: "query", expr: .}] | unique}]}' >"$scratch/queries.yml"
  quiet promtool check rules --lint=none "$scratch/queries.yml"
  [ -x "$cache/node_modules/.bin/tsc" ] || {
    echo "installing @grafana/schema and typescript into $cache"
    npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$cache" \
      "@grafana/schema@$grafana" "typescript@$typescript"
  }
  node scripts/deploy/dashboards.mjs deploy/grafana/dashboards/*.json >"$cache/dashboards.ts"
  quiet "$cache/node_modules/.bin/tsc" --noEmit --strict --skipLibCheck --moduleResolution node --target es2022 "$cache/dashboards.ts"
  echo "dashboards: $(jq '.groups[0].rules | length' "$scratch/queries.yml") queries, panels as Grafana $grafana declares them"
}

manifests() {
  [ -x "$cache/bin/kubernetes-validate" ] || {
    echo "installing kubernetes-validate into $cache"
    python3 -m venv "$cache"
    "$cache/bin/pip" --quiet --disable-pip-version-check install "kubernetes-validate==$checker"
  }
  # The checker prints each object's name, and stumbles over one that is made up later.
  sed 's/generateName: \(.*\)-$/name: \1/' deploy/kubernetes/workspace/job.yaml >"$scratch/job.yaml"
  local files=("$scratch/job.yaml" deploy/kubernetes/base/*.yaml deploy/kubernetes/*.example.yaml
    deploy/kubernetes/workspace/configmap.yaml deploy/kubernetes/workspace/secret.example.yaml)
  local newest
  newest=$("$cache/bin/python" -c 'import kubernetes_validate as k; print(k.latest_version())')
  for version in "$oldest" "$newest"; do
    quiet "$cache/bin/kubernetes-validate" --strict --kubernetes-version "$version" "${files[@]}"
  done
  echo "manifests: $(cat "${files[@]}" | grep -c '^kind:') objects, valid for Kubernetes $oldest and $newest"
}

# Names of parts on the command line run those alone.
for part in ${*:-rules dashboards manifests}; do "$part"; done
