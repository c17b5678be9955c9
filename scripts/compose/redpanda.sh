#!/usr/bin/env bash
# Says whether the tests can run on Redpanda here: exits 0 when a Docker engine
# answers that has the image of test/testkit, else 1, with what they ran on in
# one line. Nothing is fetched, and nobody waits for an engine that is not there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

image=$(sed -n 's/^\tredpandaImage *= *"\(.*\)"$/\1/p' test/testkit/redpanda.go)

no() { echo "tests ran on the in-process broker: $*"; exit 1; }

[ -z "${KAFKA_BROKERS:-}" ] || { echo "tests ran on $KAFKA_BROKERS"; exit 1; }
command -v docker >/dev/null || no "there is no docker here"
timeout 5 docker version >/dev/null 2>&1 || no "no Docker engine answers"
timeout 5 docker image inspect "$image" >/dev/null 2>&1 || no "the Docker engine has no $image (docker pull fetches it)"
echo "tests run on $image too"
