#!/usr/bin/env bash
# Gives the engine of engine.sh images under the names that the Dockerfile and
# docker-compose.yml know, so that both are used as they are: Go from this machine
# as golang, and Apache Kafka, which understands a few words of rpk, as Redpanda.
set -euo pipefail

# image_of FILE PATTERN prints the first image that a line of a file names, without its
# digest: a stand-in has another.
image_of() { sed -n "s/.*\($2:[A-Za-z0-9._-]*\).*/\1/p" "$root/$1" | head -n 1; }

golang=$(image_of Dockerfile golang)
redpanda=$(image_of docker-compose.yml redpandadata\\/redpanda)
state=$root/.compose

docker import "$base" anabranch-base

# Tests and documents are half of Go and no part of a build.
tar -c -C "$here/standins/golang" Dockerfile \
  -C "$(go env GOROOT)/.." --exclude='*_test.go' --exclude=testdata --exclude=go/api --exclude=go/doc --exclude=go/test \
  --transform "s,^$(basename "$(go env GOROOT)"),go," "$(basename "$(go env GOROOT)")" \
  -C "$state/modules/cache" download -C "$state" compiled |
  docker build --quiet -t "$golang" -

jars=$("$here/../kafka/kafka.sh" jars)
tar -c -C "$here/standins/redpanda" Dockerfile rpk -C "$here/../kafka" log4j2.properties \
  --transform "s,^$(basename "$jars"),jars," -C "$(dirname "$jars")" "$(basename "$jars")" |
  docker build --quiet -t "$redpanda" -
