#!/usr/bin/env bash
# A Docker engine for one command, with stand-ins for the images that the Dockerfile
# and docker-compose.yml name: for machines that have no engine, or none that may
# fetch images.
#
#   engine.sh with CMD...   runs CMD with DOCKER_HOST set to a new engine; when CMD
#                           ends, all that it made is gone
#   engine.sh clean         deletes what is kept between runs
#
# The engine lives in namespaces of its own: its bridges and its rules for packets,
# its mounts and its processes are not this machine's, and end with it, whatever
# ends it. There is no network outside: what an image is made of is put into it
# before. Needs root and Debian's docker.io and mmdebstrap.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
state=$root/.compose
base=$state/base.tar
export here root base

say() { printf '%s\n' "compose: $*" >&2; }
die() { say "$@"; exit 1; }

require() { command -v "$1" >/dev/null || die "$1 is missing: install Debian's $2"; }

# What all stand-ins are made from: a shell, the roots of TLS and a Java runtime.
# Debian gives no fixed image; a new one once a day would be no more equal.
fetch_base() {
  [ ! -f "$base" ] || return 0
  require mmdebstrap mmdebstrap
  local suite sources=()
  suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
    [ ! -s "$file" ] || sources+=("$file")
  done
  say "making a base image of Debian $suite"
  nice mmdebstrap --quiet --variant=essential --include=ca-certificates,default-jre-headless \
    "$suite" "$base.part.tar" "${sources[@]}" || die "mmdebstrap could not make a base image"
  mv "$base.part.tar" "$base"
}

# The modules of go.mod and no others, for a build that has no network, and what the
# compiler has made of them for an earlier run, which saves minutes.
fetch_modules() {
  (cd "$root" && go mod download)
  (cd "$root" && GOPROXY=file://$(go env GOMODCACHE)/cache/download GOSUMDB=off \
    GOMODCACHE=$state/modules GOFLAGS=-modcacherw go mod download)
  (cd "$root" && GOCACHE=$state/compiled CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o /dev/null ./cmd/anabranch)
}

fetch_broker() { "$here/../kafka/kafka.sh" jars >/dev/null; }

# The groups that containers were in outlive the engine's namespaces.
remove_groups() {
  find /sys/fs/cgroup -depth -type d -path "*/$1*" -exec rmdir {} + 2>/dev/null || true
}

with() {
  [ "$(id -u)" -eq 0 ] || die "an engine needs root"
  require dockerd docker.io
  require docker "docker.io (docker-cli in later releases)"
  require iptables iptables
  mkdir -p "$state"
  echo '*' >"$state/.gitignore"
  fetch_base
  fetch_modules
  fetch_broker
  local dir
  dir=$(mktemp -d /tmp/anabranch-compose-XXXXXX)
  # shellcheck disable=SC2064 # the directory of now
  trap "remove_groups ${dir##*/}; rm -rf $dir" EXIT
  unshare --mount --net --pid --ipc --uts --fork --kill-child --mount-proc "${BASH_SOURCE[0]}" inside "$dir" "$@"
}

# inside DIR CMD... is "with" in the namespaces.
inside() {
  local dir=$1
  shift
  trap 'exit 130' INT TERM
  mount --make-rprivate /
  mount -t tmpfs tmpfs /run
  ip link set lo up
  export DOCKER_HOST=unix://$dir/docker.sock DOCKER_CONFIG=$dir/config DOCKER_BUILDKIT=0 COMPOSE_DOCKER_CLI_BUILD=0
  # In a session of its own: Ctrl-C is for the command, which may have to clean up.
  setsid dockerd --host "$DOCKER_HOST" --data-root "$dir/data" --exec-root "$dir/exec" --pidfile "$dir/pid" \
    --cgroup-parent "/${dir##*/}" >"$dir/log" 2>&1 &
  await "$dir"
  "$here/standins.sh" >"$dir/standins.log" 2>&1 || { tail -n 20 "$dir/standins.log" >&2; die "making the stand-ins failed"; }
  # By its tag: the digest in the Dockerfile is not that of the stand-in.
  GO_IMAGE=$(sed -n 's/^ARG GO_IMAGE=\([^@]*\).*/\1/p' "$root/Dockerfile")
  export GO_IMAGE
  say "engine $(docker version --format '{{.Server.Version}}') with $(docker images --format '{{.Repository}}:{{.Tag}}' | sort | paste -sd ' ')"
  "$@"
}

await() {
  local deadline=$((SECONDS + 60))
  until docker version >/dev/null 2>&1; do
    [ "$SECONDS" -lt "$deadline" ] || { tail -n 20 "$1/log" >&2; die "the engine is not up after 60 s"; }
    sleep 0.1
  done
}

case "${1:-}" in
with | inside)
  call=$1
  shift
  "$call" "$@"
  ;;
clean) rm -rf "$state" ;;
*)
  sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2
  exit 2
  ;;
esac
