#!/usr/bin/env bash
# Prints the alert and recording rules as objects of the Prometheus operator:
#
#   scripts/deploy/prometheusrule.sh | kubectl apply -f -
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../deploy/prometheus/rules"

for file in *.rules.yml; do
  cat <<END
---
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: anabranch-${file%.rules.yml}
  namespace: anabranch
  labels:
    app.kubernetes.io/name: anabranch
    app.kubernetes.io/part-of: anabranch
spec:
END
  sed 's/^/  /' "$file"
done
