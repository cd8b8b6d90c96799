#!/bin/bash
# ci/mali_cost.sh BUILD [--gpu ID]... [--kernels FOLDER] [--out FOLDER] [--limit SECONDS] [--against FILE|REVISION] [--check] [PATTERN...]
# what kernels cost on Mali's GPUs, without one: has Mesa's compilers (ci/drivers.sh mali; root) build every variant made for GPUs, or
# those whose names (as clvet_kernel_dump writes them) fit a PATTERN, reads the listings and prints costs (ci/mali_cost.py).
#   --gpu ID        0x7212 (G52), 0xa867 (G610), 0x860 (T860); all three if none is said
#   --against       what differs from a JSON of an earlier run (FOLDER/costs.json), or from the kernels of another revision
#   --check         compares with ci/expectations/mali, whose variants are those built; exit 1 where it differs
# Each variant is built in a process of its own: a compiler that dies or takes longer than the limit (60 s) is a row of the table.
# Needs clvet_kernel_dump and clvet_build_only in BUILD.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"

usage() { sed -n '2,9s/^# //p' "${BASH_SOURCE[0]}"; exit 2; }
[ $# -ge 1 ] || usage
build=$(readlink -f "$1")
shift
gpus=() patterns=() kernels=$CLVET_ROOT/kernels out=$CLVET_ROOT/out/mali limit=60 against='' check=''
while [ $# -gt 0 ]; do
  case $1 in
    --gpu) gpus+=("${2:?}"); shift 2 ;;
    --kernels) kernels=$(readlink -f "${2:?}"); shift 2 ;;
    --out) out=${2:?}; shift 2 ;;
    --limit) limit=${2:?}; shift 2 ;;
    --against) against=${2:?}; shift 2 ;;
    --check) check=yes; shift ;;
    -*) usage ;;
    *) patterns+=("$1"); shift ;;
  esac
done
[ ${#gpus[@]} -gt 0 ] || gpus=(0x7212 0xa867 0x860)
for name in clvet_kernel_dump clvet_build_only; do [ -x "$build/tests/$name" ] || die "$build/tests/$name: not built"; done

# chosen KERNELS PROGRAMS: names of the programs to build, one a line; without patterns those of kernels that GPUs prefer
chosen() {
  python - "$@" "${patterns[@]}" <<'PY'
import fnmatch, json, pathlib, sys
kernels, programs, patterns = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:]
rank = {path.stem: json.loads(path.read_text()).get("rank", {}) for path in kernels.glob("ops/*/*.json")}
for path in sorted(programs.glob("*.cl")):
    ranks = rank[path.name.split(".")[0]]
    named = [fnmatch.fnmatch(path.stem, pattern) for pattern in patterns]
    if any(named) or (not patterns and ranks.get("gpu", 1) >= ranks.get("cpu", 0)): print(path.stem)
PY
}

# build_all KERNELS FOLDER: leaves FOLDER/<gpu>/<variant>.txt and .status
build_all() {
  local kernels=$1 folder=$2 gpu
  rm -rf "$folder"
  mkdir -p "$folder/programs"
  CLVET_TEST_KERNELS=$kernels "$build/tests/clvet_kernel_dump" "$folder/programs"
  chosen "$kernels" "$folder/programs" >"$folder/chosen"
  [ -s "$folder/chosen" ] || die "no variant fits"
  for gpu in "${gpus[@]}"; do
    mkdir -p "$folder/$gpu"
    say "building $(wc -l <"$folder/chosen") programs for $gpu"
    # shellcheck disable=SC2016
    MESA_SHADER_CACHE_DISABLE=1 BIFROST_MESA_DEBUG=shaderdb,shaders MIDGARD_MESA_DEBUG=shaderdb,shaders \
      bash "$CLVET_ROOT/ci/drivers.sh" run "mali:$gpu" bash -c '
        export folder=$1 gpu=$2 limit=$3 program=$4
        one() {
          local status=0
          timeout "$limit" "$program" libOpenCL.so.1 "$folder/programs/$1.cl" >"$folder/$gpu/$1.txt" 2>&1 || status=$?
          echo "$status" >"$folder/$gpu/$1.status"
        } 2>/dev/null
        export -f one
        xargs -P "$(nproc)" -I{} bash -c "one {}" <"$folder/chosen"
      ' _ "$folder" "$gpu" "$limit" "$build/tests/clvet_build_only"
  done
}

if [ -n "$check" ] && [ ${#patterns[@]} = 0 ]; then
  mapfile -t patterns < <(python -c 'import json, sys
print(*sorted({name for rows in json.load(open(sys.argv[1])).values() for name in rows}), sep="\n")' "$CLVET_ROOT/ci/expectations/mali/costs.json")
fi
out=$(mkdir -p "$out" && cd "$out" && pwd)
case $out in "$CLVET_ROOT"/* | "$CLVET_SETUP_CACHE"/*) ;; *) die "$out: the Debian root sees this checkout and the cache alone" ;; esac
arguments=()
if [ -n "$against" ] && [ ! -e "$against" ]; then
  git -C "$CLVET_ROOT" rev-parse -q --verify "$against^{commit}" >/dev/null || die "$against: neither a file nor a revision"
  rm -rf "$out/revision"
  mkdir -p "$out/revision"
  git -C "$CLVET_ROOT" archive "$against" kernels | tar -x -C "$out/revision"
  build_all "$out/revision/kernels" "$out/before"
  python "$CLVET_ROOT/ci/mali_cost.py" "$out/before" --write "$out/before.json" >/dev/null
  against=$out/before.json
fi
[ -z "$against" ] || arguments+=(--against "$against")
[ -z "$check" ] || arguments+=(--families "$CLVET_ROOT/ci/expectations/mali/families.json"
  --expect "$CLVET_ROOT/ci/expectations/mali/costs.json")
build_all "$kernels" "$out/now"
python "$CLVET_ROOT/ci/mali_cost.py" "$out/now" --write "$out/costs.json" "${arguments[@]}"
