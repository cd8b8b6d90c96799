#!/bin/bash
# tests/ci/packages_test.sh: release notes come from CHANGELOG.md; the version stands in one place; the container file, which is not
# built here, names files and packages that there are.
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
. "$root/ci/env.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}

# notes pass|fail PATTERN [VERSION]: of the tree in $work
notes() {
  local output status=pass
  output=$(CLVET_NOTES_ROOT=$work bash "$root/ci/release_notes.sh" "${@:3}" 2>&1) || status=fail
  [ "$status" = "$1" ] && grep -qE "$2" <<<"$output" || fail "line ${BASH_LINENO[0]}: gave $status, wanted $1 with '$2': $output"
}
echo 'project(clvet VERSION 1.2.0 LANGUAGES C CXX)' >"$work/CMakeLists.txt"
printf '%s\n' '# Changes' '' '## 1.2.0 (2030-01-01)' '' '- This is new.' '' '## 1.1.0' '' '- This was.' >"$work/CHANGELOG.md"
notes pass '^- This is new\.$'
notes pass '^- This is new\.$' 1.2.0
CLVET_NOTES_ROOT=$work bash "$root/ci/release_notes.sh" | grep -q 'This was' && fail "notes of an older version, too"
notes fail 'this tree is version 1\.2\.0, not 1\.1\.0' 1.1.0
printf '%s\n' '# Changes' '' '## 1.2.0' '' '## 1.1.0' '' '- This was.' >"$work/CHANGELOG.md"
notes fail 'CHANGELOG.md says nothing of 1\.2\.0'
printf '%s\n' '# Changes' '' '## 1.2.01' '' '- Another.' >"$work/CHANGELOG.md"
notes fail 'CHANGELOG.md says nothing of 1\.2\.0'
echo >"$work/CMakeLists.txt"
notes fail "no 'project\(clvet VERSION"
bash "$root/ci/release_notes.sh" >/dev/null || fail "this tree has no release notes"

cd "$root" || exit 1
version=$(project_version)
places=$(grep -rIlF "$version" base kernels probe runtime reports cli packages samples Containerfile CMakeLists.txt)
[ "$places" = CMakeLists.txt ] || fail "the version $version stands in CMakeLists.txt alone, but is in:" $places
[ "$(grep -cF "$version" CMakeLists.txt)" = 1 ] || fail "CMakeLists.txt says the version $version more than once"

# The container file: an instruction a line, continued by a backslash.
stages=' '
while read -r instruction words; do
  case $instruction in
    '' | '#'* | WORKDIR | ENTRYPOINT | CMD) ;;
    FROM) [ "${words#* AS }" = "$words" ] || stages+="${words##* AS } " ;;
    COPY)
      case $words in
        --from=*)
          stage=${words#--from=}
          [[ $stages == *" ${stage%% *} "* ]] || fail "Containerfile copies from '${stage%% *}', which is no stage"
          ;;
        *) for file in ${words% *}; do [ -e "$file" ] || fail "Containerfile copies $file, which is not there"; done ;;
      esac
      ;;
    RUN)
      for file in $(grep -oE '(bash )[a-z_/]+\.sh' <<<"$words" | cut -d' ' -f2); do
        [ -e "$file" ] || fail "Containerfile runs $file, which is not there"
      done
      for package in $(grep -oE 'apt-get install [^&]*' <<<"$words" | tr ' ' '\n' | grep -E '^[a-z0-9][a-z0-9.+-]+$' | grep -vE '^(apt-get|install)$'); do
        # Only where this machine has Debian's lists.
        apt-cache show --no-all-versions dpkg >/dev/null 2>&1 || continue
        apt-cache show --no-all-versions "$package" >/dev/null 2>&1 || fail "Containerfile installs $package, which Debian does not have"
      done
      ;;
    *) fail "Containerfile: '$instruction' is no instruction that is used here" ;;
  esac
done < <(sed -e ':a' -e '/\\$/N; s/\\\n//; ta' Containerfile)
[[ $stages == *' build '* ]] || fail "Containerfile has no stage 'build'"

if [ $failures -gt 0 ]; then
  echo "$failures failure(s)"
  exit 1
fi
echo "notes, version and container file are in order"
