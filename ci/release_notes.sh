#!/bin/bash
# ci/release_notes.sh [VERSION]: what CHANGELOG.md says of the version, without its heading; of this tree's version, if none is
# named. Fails if VERSION is not this tree's, or CHANGELOG.md has no such section or nothing in it.
# CLVET_NOTES_ROOT: another tree to read (tests).
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"
root=${CLVET_NOTES_ROOT:-$CLVET_ROOT}
own=$(project_version "$root")
version=${1:-$own}
[ -n "$own" ] || die "no 'project(clvet VERSION ...)' in $root/CMakeLists.txt: the version has to stand there"
[ "$version" = "$own" ] ||
  die "this tree is version $own, not $version: set project(VERSION) in CMakeLists.txt, or check out what was released as $version"
notes=$(awk -v wanted="$version" '/^## / { inside = $2 == wanted; next } inside' "$root/CHANGELOG.md" | sed '/./,$!d')
[ -n "$notes" ] || die "CHANGELOG.md says nothing of $version: write a section '## $version (DAY)' with what changed"
printf '%s\n' "$notes"
