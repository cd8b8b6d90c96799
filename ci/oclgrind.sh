#!/bin/bash
# ci/oclgrind.sh BUILD_DIR [--check races|uninitialised] [--shapes N] [KERNEL...]: no kernel has a data race, reads or
# writes outside its memory or reads what was never written, as Oclgrind's checks see it: at high and normal precision,
# every storage, the N smallest test shapes (2 if not said; an interpreter runs them) of every kernel, or of KERNEL....
# Needs clvet_kernel_folder and clvet_kernel_shapes built. Slow. A kernel found in order is noted in out/oclgrind and not
# tried again until a kernel file changes, so a run that was stopped goes on. The last lines say what was covered. Exit 1: a finding, or a case that is not right.
# The check for uninitialised values stops at LLVM's `freeze`, so it runs with the optimiser off; it crashes in shuffles of
# float8 and float16, so kernels with such vectors are left out of it; and it takes every image for uninitialised, so it sees only
# cases whose tensors all lie in buffers. Nor does it see what the host writes into a map, so what it finds in the canary, which the
# checks of maps launch, is no finding. Kernels have 64 KiB of local memory here, in place of Oclgrind's 32.
set -uo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"

usage() { sed -n '2,3s/^# //p' "${BASH_SOURCE[0]}"; exit 2; }
[ $# -ge 1 ] || usage
program=$(readlink -f "$1")/tests/clvet_kernel_folder list_shapes=$(readlink -f "$1")/tests/clvet_kernel_shapes
shift
for name in "$program" "$list_shapes"; do [ -x "$name" ] || die "$name: not built"; done
checks=(races uninitialised) kernels=() shapes=2
while [ $# -gt 0 ]; do
  case $1 in
    --check) checks=("${2:?}"); shift 2 ;;
    --shapes) shapes=${2:?}; shift 2 ;;
    -*) usage ;;
    *) kernels+=("$1"); shift ;;
  esac
done
for kernel in "${kernels[@]}"; do
  [ -e "$(echo "$CLVET_ROOT"/kernels/ops/*/"$kernel.json")" ] || die "no kernel '$kernel'"
done
out=$CLVET_ROOT/out/oclgrind
mkdir -p "$out"

# settings_of CHECK KERNEL
settings_of() {
  case $1-$2 in
    races-*) echo OCLGRIND_DATA_RACES=1 ;;
    uninitialised-*) echo OCLGRIND_UNINITIALIZED=1 OCLGRIND_BUILD_OPTIONS=-cl-opt-disable ;;
    *) usage ;;
  esac
}

# judge CHECK KERNEL FOLDER KERNELS CASES...: probes with the check on; leaves report.json and findings in FOLDER
judge() {
  local check=$1 kernel=$2 folder=$3 kernels=$4 settings
  shift 4
  read -ra settings < <(settings_of "$check" "$kernel")
  rm -rf "$folder"
  mkdir -p "$folder"
  CLVET_TEST_KERNELS=$kernels CLVET_STATE_DIR=$folder/state bash "$CLVET_ROOT/ci/drivers.sh" run oclgrind env "${settings[@]}" \
    OCLGRIND_MAX_ERRORS=100000 OCLGRIND_LOCAL_MEM_SIZE=65536 OCLGRIND_LOG="$folder/findings" \
    "$program" probe --tier full --fresh --quiet --library libOpenCL.so.1 "$@" --out "$folder/report.json" 2>"$folder/stderr"
  [ $? -le 1 ] || { tail -n 3 "$folder/stderr" >&2; return 1; }
  [ ! -e "$folder/findings" ] || without_canary "$folder/findings"
}

# without_canary FILE: takes the findings in the canary's kernel out of it (one begins at a line without a tab)
without_canary() {
  awk '/^[^\t]/ { if (!canary) printf "%s", text; text = ""; canary = 0 }
       /^\tKernel: clvet_canary$/ { canary = 1 }
       { text = text $0 "\n" }
       END { if (!canary) printf "%s", text }' "$1" >"$1.rest" && sed -i '/./,$!d' "$1.rest" && mv "$1.rest" "$1"
}

# verdicts FOLDER: "tried N, M not right", and the names of those
verdicts() {
  python - "$1/report.json" <<'PY'
import json, sys
rows = [row for row in json.load(open(sys.argv[1]))["verdicts"] if row["verdict"] != "unsupported"]
bad = [row for row in rows if row["verdict"] != "pass"]
print(len(rows), len(bad), *[f"{row['case']}:{row['verdict']}" for row in bad[:5]])
PY
}

# A check that finds nothing in a faulty kernel would prove nothing.
finds_faults() {
  local check=$1 file=$out/faulty/ops/gemv/gemv_col4.cl
  rm -rf "$out/faulty"
  cp -r "$CLVET_ROOT/kernels" "$out/faulty"
  case $check in
    races) sed -i 's/texel_at(column, 0, quads_n)/texel_at(0, 0, quads_n)/' "$file" ;;
    uninitialised) sed -i 's/float4 sum = bias\[column\];/float4 sum; if (column == 0) sum = bias[column];/' "$file" ;;
  esac
  cmp -s "$file" "$CLVET_ROOT/kernels/ops/gemv/gemv_col4.cl" && die "no fault for $check could be made"
  judge "$check" gemv_col4 "$out/self" "$out/faulty" --case gemv_col4/high/normal/buffer/buffer/float/odd
  [ -s "$out/self/findings" ] || die "Oclgrind's check for $check finds nothing in a faulty kernel"
}

# patterns CHECK KERNEL: its cases, one a line
patterns() {
  local precision shape precisions names manifest=("$CLVET_ROOT"/kernels/ops/*/"$2.json") place=-
  names=$(CLVET_TEST_KERNELS=$CLVET_ROOT/kernels "$list_shapes" "$2" "$shapes") || return
  if grep -q '"weights":' "${manifest[0]}"; then place=buffer; fi
  precisions=$(grep '"precisions":' "${manifest[0]}" | grep -oE 'high|normal')
  for shape in $names; do
    for precision in $precisions; do
      case $1 in
        races) echo "$2/$precision/*/$shape" ;;
        uninitialised) echo "$2/$precision/*/buffer/$place/*/$shape" ;;
      esac
    done
  done
}

# text_of MANIFEST: the source text that its kernel compiles
text_of() { echo "$(dirname "$1")/$(python -c 'import json, sys; print(json.load(open(sys.argv[1])).get("text", sys.argv[2]))' \
  "$1" "$(basename "$1" .json)").cl"; }

# kernels_for CHECK: one a line; every manifest is one, also those that share a text
kernels_for() {
  local check=$1 manifest file
  for manifest in "$CLVET_ROOT"/kernels/ops/*/*.json; do
    file=$(text_of "$manifest")
    if grep -q 'cl_khr_fp16' "$file"; then continue; fi
    if [ "$check" = uninitialised ] && grep -qE '\bimage2d_t\b' "$file"; then continue; fi
    case $check-$file in uninitialised-*/copy/*) continue ;; esac
    if [ "$check" = uninitialised ] && grep -q '"turn.clh"' "$manifest"; then continue; fi # float8
    if [ "$check" = uninitialised ] && grep -qE '\b(real|float)16\b' "$file"; then continue; fi
    if [ "$check" = uninitialised ] && grep -q '"VEC": 16' "$manifest"; then continue; fi # float16, by its width
    basename "$manifest" .json
  done
}

state=$(cat "$CLVET_ROOT"/kernels/common/* "$CLVET_ROOT"/kernels/ops/*/* "$CLVET_ROOT"/kernels/reference/*.json | sha256sum | cut -c1-16)
failed=0
for check in "${checks[@]}"; do
  finds_faults "$check"
  cases=0 covered=0 total=0
  while read -r kernel; do
    if [ ${#kernels[@]} -gt 0 ]; then
      case " ${kernels[*]} " in *" $kernel "*) ;; *) continue ;; esac
    fi
    total=$((total + 1))
    mark=$out/$check-$kernel-$shapes-$state
    if [ ! -e "$mark" ]; then
      folder=$out/$check
      cases_of=$(patterns "$check" "$kernel") && [ -n "$cases_of" ] || { say "$kernel: no case"; failed=1; continue; }
      mapfile -t arguments < <(sed 's/^/--case\n/' <<<"$cases_of")
      judge "$check" "$kernel" "$folder" "$CLVET_ROOT/kernels" "${arguments[@]}" || { failed=1; continue; }
      read -r tried bad names < <(verdicts "$folder")
      if [ "$bad" != 0 ] || [ -s "$folder/findings" ]; then
        say "FINDING $check in $kernel: $bad of $tried cases not right: $names"
        head -n 20 "$folder/findings" >&2
        failed=1
        continue
      fi
      echo "$tried" >"$mark"
    fi
    cases=$((cases + $(cat "$mark")))
    [ "$(cat "$mark")" = 0 ] || covered=$((covered + 1))
  done < <(kernels_for "$check")
  say "$check: no finding in $cases cases of $covered of $total kernels"
done
exit $failed
