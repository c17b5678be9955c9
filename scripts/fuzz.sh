#!/usr/bin/env bash
# Runs every fuzz target of the packages for a time each; go test takes one
# target of one package a run.
#
#   fuzz.sh 20s work
set -euo pipefail

for_each=$1
shift

for package in $(go list "$@"); do
  targets=$(go test -list '^Fuzz' "$package" | sed -n '/^Fuzz/p')
  for target in $targets; do
    echo "== $package $target"
    # Left alone, shrinking one interesting input takes a minute: all the time
    # there is.
    go test -run '^$' -fuzz "^$target\$" -fuzztime "$for_each" -fuzzminimizetime 50x "$package"
  done
done
