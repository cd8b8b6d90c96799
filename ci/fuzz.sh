#!/bin/bash
# ci/fuzz.sh [--seconds N] [READER...]: libFuzzer's inputs, under the sanitizers of addresses and undefined behaviour, for the
# readers of files from outside (tests/fuzz/), N seconds each (default 600). What breaks one is left in out/fuzz/ and can be given to
# build-fuzz/tests/fuzz/fuzz_<reader> again. Exit 1: a reader broke, hung or took more than 2 GiB.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"
cd "$CLVET_ROOT"

seconds=600
readers=()
while [ $# -gt 0 ]; do
  case $1 in
    --seconds) seconds=${2:?--seconds needs a number}; shift 2 ;;
    -*) sed -n '2,4s/^# //p' "${BASH_SOURCE[0]}"; exit 2 ;;
    *) readers+=("$1"); shift ;;
  esac
done
if [ ${#readers[@]} -eq 0 ]; then
  for source in tests/fuzz/*.cpp; do readers+=("$(basename "$source" .cpp)"); done
fi

bash ci/setup.sh --nightly
cmake --preset fuzz >/dev/null
for reader in "${readers[@]}"; do cmake --build --preset fuzz --target "fuzz_$reader" >&2; done
cmake --preset release >/dev/null
cmake --build --preset release --target clvet >&2

out=$CLVET_ROOT/out/fuzz
"$CLVET_TEST_PYTHON" ci/fuzz_seeds.py "$out/seeds"
found=0
CLVET_STATE_DIR=$out/state build/cli/clvet probe --quiet --case 'eltwise_unary_run/high/*' --out "$out/seeds/report/report.json" || found=$?
[ "$found" -le 1 ] || die "probe failed (exit $found)"
build/cli/clvet plan --quiet "$out/seeds/onnx/test_relu.onnx" --report "$out/seeds/report/report.json" --out "$out/seeds/plan/plan.json"

export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_odr_violation=0}
broken=0
for reader in "${readers[@]}"; do
  mkdir -p "$out/corpus/$reader"
  say "fuzzing the reader of $reader for $seconds s"
  if "build-fuzz/tests/fuzz/fuzz_$reader" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -max_len=65536 -print_final_stats=1 \
    -artifact_prefix="$out/$reader-" "$out/corpus/$reader" "$out/seeds/$reader" >"$out/$reader.log" 2>&1; then
    say "$reader: $(sed -n 's/^stat::number_of_executed_units: *//p' "$out/$reader.log") inputs, none broke it"
  else
    broken=1
    say "$reader broke: see $out/$reader.log"
  fi
done
exit "$broken"
