#!/usr/bin/env bash
# Tags a release: v1.2.3 for the product, and analytics/v1.2.3 for the Go client,
# which is a module of its own in the same repository. It pushes nothing.
#
#   release.sh [-n] v1.2.3     with -n nothing is tagged
set -euo pipefail

fail() {
  echo "release: $*" >&2
  exit 1
}

dry=
if [ "${1:-}" = -n ]; then
  dry=yes
  shift
fi
version=${1:-}

# A later major version would have to be part of the module paths.
[[ $version =~ ^v[01]\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(-[0-9A-Za-z.-]+)?$ ]] ||
  fail "the version is '$version', expected one such as v1.2.3 or v1.3.0-rc.1, below v2"

cd "$(git rev-parse --show-toplevel)"
[ -z "$(git status --porcelain)" ] || fail "the working tree has changes; commit them first"
grep -qE "^## ${version//./\\.}( |\$)" CHANGELOG.md || fail "CHANGELOG.md has no heading '## $version'"

tags=("$version" "analytics/$version")
for tag in "${tags[@]}"; do
  ! git rev-parse -q --verify "refs/tags/$tag" >/dev/null || fail "there is a tag $tag already"
done
for tag in "${tags[@]}"; do
  [ -n "$dry" ] || git tag -a -m "$tag" "$tag"
done
if [ -n "$dry" ]; then
  echo "would tag $(git rev-parse --short HEAD) as ${tags[*]}"
else
  echo "tagged $(git rev-parse --short HEAD); to publish: git push origin ${tags[*]}"
fi
