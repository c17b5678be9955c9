#!/usr/bin/env bash
# Writes the digest of each image behind its tag, in the Dockerfile, docker-compose.yml
# and deploy/: a tag may be moved by whoever has the registry's password, a digest is
# the image. A digest that is there already is looked up again. It needs the network,
# and crane or docker with buildx.
#
#   pin-images.sh [-u]     with -u digests are taken out again
#
# Images without a tag are our own, and stay as they are. IMAGE_DIGEST names another
# command that prints the digest of an image.
set -euo pipefail

fail() {
  echo "pin-images: $*" >&2
  exit 1
}

unpin=
case ${1:-} in
-u) unpin=yes ;;
'') ;;
*) fail "unexpected argument $1, expected -u or nothing" ;;
esac

readonly before='^([[:space:]]*(- )?image:[[:space:]]+|ARG [A-Z_]*IMAGE=|FROM )'
readonly image='([a-z0-9][a-z0-9._/:-]*:[A-Za-z0-9_][A-Za-z0-9_.-]*)'
readonly digest='sha256:[0-9a-f]{64}'

# digest_of prints what the registry has under a tag: the list of all platforms'
# images, where there is one.
digest_of() {
  if [ -n "${IMAGE_DIGEST:-}" ]; then
    "$IMAGE_DIGEST" "$1"
  elif command -v crane >/dev/null; then
    crane digest "$1"
  elif docker buildx version >/dev/null 2>&1; then
    docker buildx imagetools inspect --format '{{.Manifest.Digest}}' "$1"
  else
    fail "crane or docker with buildx is needed to ask registries"
  fi
}

# pinned FILE prints the file with digests, or without.
pinned() {
  local line found
  while IFS= read -r line || [ -n "$line" ]; do
    if [[ $line =~ $before$image(@$digest)?([[:space:]].*)?$ ]]; then
      local head=${BASH_REMATCH[1]} ref=${BASH_REMATCH[3]} rest=${BASH_REMATCH[5]}
      line=$head$ref$rest
      if [ -z "$unpin" ]; then
        found=$(digest_of "$ref") || fail "$1: the digest of $ref can't be had"
        [[ $found =~ ^$digest$ ]] || fail "$1: the digest of $ref is '$found', expected sha256: and 64 hexadecimal digits"
        line=$head$ref@$found$rest
        echo "$1: $ref@$found" >&2
      fi
    fi
    printf '%s\n' "$line"
  done <"$1"
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
files=()
while IFS= read -r file; do
  files+=("$file")
done < <(printf '%s\n' Dockerfile docker-compose.yml && find deploy -name '*.yaml' | sort)

# Nothing is written before all is known.
for i in "${!files[@]}"; do
  pinned "${files[i]}" >"$scratch/$i"
done
for i in "${!files[@]}"; do
  cmp -s "$scratch/$i" "${files[i]}" || cat "$scratch/$i" >"${files[i]}" # the file keeps its mode
done
