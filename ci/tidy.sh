#!/bin/bash
# ci/tidy.sh [--all | --since REV | FILE...]: C++ files hold what .clang-tidy asks for (version 19, Debian 12's): above all,
# each includes what it uses and nothing else (ci/check_includes.py sees what the tool does not). Headers are checked as files of
# their own. Without arguments: what changed since the upstream branch, or on it in the day before its last commit. Uncommitted
# files count as changed.
set -uo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"
from=$PWD
cd "$CLVET_ROOT" || exit 1

# The commit that today's work started from; a young history's start is its first.
start() {
  local rev
  rev=$(git merge-base origin/main HEAD 2>/dev/null)
  if [ -z "$rev" ] || [ "$rev" = "$(git rev-parse HEAD)" ]; then
    rev=$(git rev-list -1 --before=$(($(git log -1 --format=%ct) - 86400)) HEAD)
  fi
  echo "${rev:-$(git rev-list --max-parents=0 HEAD | tail -n 1)}"
}
# The last changes first.
changed() {
  git ls-files --others --exclude-standard
  git diff --name-only --diff-filter=d HEAD -- && git log --name-only --diff-filter=d --format= -m --first-parent "$1..HEAD" --
}
most=80

command -v clang-tidy-19 >/dev/null || die "clang-tidy-19 not found; ci/setup.sh --test installs it"
[ -e build/build.ninja ] || cmake --preset release >/dev/null || exit 1
# Brings the compile commands up to date, too.
cmake --build build --target generated/runtime/onnx/onnx.pb.h >/dev/null || exit 1
known=$(python ci/tidy_commands.py build) || exit 1

case ${1:-} in
  --all) wanted=$known ;;
  --since) wanted=$(changed "${2:?--since needs a revision}") || die "cannot tell what changed since $2" ;;
  -*) sed -n '2,5s/^# //p' "${BASH_SOURCE[0]}"; exit 2 ;;
  '') wanted=$(changed "$(start)") || die "cannot tell what changed; try --all" ;;
  *) wanted=$(cd "$from" && realpath --relative-to="$CLVET_ROOT" -- "$@") ;;
esac
mapfile -t files < <(grep -Fxf <(printf '%s\n' "$known") <<<"$wanted" | awk '!seen[$0]++')
# A day that changed everything is the nightly run's to look at: here, what changed last.
if [ $# -eq 0 ] && [ ${#files[@]} -gt $most ]; then
  say "tidy: $((${#files[@]} - most)) more files changed: ci/nightly.sh tidy looks at all"
  files=("${files[@]:0:$most}")
fi

say "tidy: checking ${#files[@]} files"
[ ${#files[@]} -gt 0 ] || exit 0
check_file() {
  local output
  output=$(clang-tidy-19 -p build/tidy --quiet "$1" 2>&1) && return
  grep -vE '^[0-9]+ warnings? (generated|treated)' <<<"$output"
  return 1
}
export -f check_file
python ci/check_includes.py "${files[@]}" || faulty=1
if ! printf '%s\0' "${files[@]}" | xargs -0 -n 1 -P "$(nproc)" bash -c 'check_file "$0"' || [ -n "${faulty:-}" ]; then
  say "tidy: mend what is named above: include what is used, drop what is not (ci/tidy.sh FILE checks one file)"
  exit 1
fi
say "tidy: ${#files[@]} files in order"
