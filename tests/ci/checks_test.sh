#!/bin/bash
# tests/ci/checks_test.sh: the checks of layers, budgets, messages and language find what they are for, and pass a tree in order.
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

# tree FILE TEXT [FILE TEXT]...: a fresh small tree in order, with these files added
tree() {
  rm -rf "$work/t"
  put base/result.h '#pragma once'
  put probe/cl/api.h '#pragma once' probe/cl/api.cpp '#include "probe/cl/api.h"
#include <CL/cl.h>'
  put cli/main.cpp '#include "base/result.h"' tests/base/result_test.cpp '#include "base/result.h"'
  put "$@"
}
put() {
  while [ $# -gt 1 ]; do
    mkdir -p "$work/t/$(dirname "$1")"
    printf '%s\n' "$2" >"$work/t/$1"
    shift 2
  done
}

# expect CHECK pass|fail PATTERN
expect() {
  local output status=pass
  if [ -e "$root/ci/check_$1.py" ]; then
    output=$(python3 "$root/ci/check_$1.py" "$work/t" 2>&1) || status=fail
  else
    output=$(cmake -DROOT="$work/t" -P "$root/ci/check_$1.cmake" 2>&1) || status=fail
  fi
  if [ "$status" != "$2" ] || ! grep -qE "$3" <<<"$output"; then
    echo "FAILED line ${BASH_LINENO[0]}: check_$1 gave $status, wanted $2 with '$3':"
    echo "$output"
    failures=$((failures + 1))
  fi
}
# many COUNT: COUNT lines of a comment; body COUNT: a function of COUNT lines
many() { yes '// line' | head -n "$1"; }
body() { echo 'int f(int a) {'; yes '  ++a;' | head -n $(($1 - 2)); echo '}'; }

tree base/ok.h '#pragma once'
expect layers pass 'files in order'
tree base/up.cpp '#include "probe/cl/api.h"'
expect layers fail 'base/up.cpp: includes probe/cl/api.h: base lies below probe'
expect layers fail 'base/up.cpp: includes probe/cl/api.h: OpenCL belongs'
tree reports/up.cpp '#include "cli/verb.h"' cli/verb.h '#pragma once'
expect layers fail 'nothing includes cli'
tree tests/cli/a_test.cpp '#include "cli/verb.h"' cli/verb.h '#pragma once'
expect layers fail 'nothing includes cli'
tree runtime/plan/plan.cpp '#include <CL/cl.h>'
expect layers fail 'runtime/plan/plan.cpp: includes CL/cl.h: OpenCL headers'
tree runtime/plan/plan.cpp '#  include "CL/opencl.h"'
expect layers fail 'OpenCL headers'
tree runtime/exec/queue.cpp '#include <CL/cl.h>
#include "probe/cl/api.h"'
expect layers pass 'files in order'
tree base/rel.cpp '#include "result.h"'
expect layers fail 'base/rel.cpp: includes "result.h": not relative'
tree base/rel.cpp '#include "../base/result.h"'
expect layers fail 'relative to the root'
tree base/angle.cpp '#include <base/result.h>'
expect layers fail 'in quotes'
tree kernels/catalog.cpp '#include "embedded_ops.h"' runtime/onnx/reader.cpp '#include "onnx.pb.h"'
expect layers pass 'files in order'
tree base/t.cpp '#include "tests/fakes/fake.h"' tests/fakes/fake.h '#pragma once'
expect layers fail 'only tests include tests'
tree base/t.cpp '#include "samples/ocr/page.h"' samples/ocr/page.h '#pragma once'
expect layers fail 'only tests include samples'
for layer in base kernels probe runtime reports cli; do
  tree samples/ocr/page.cpp "#include \"$layer/a.h\"" "$layer/a.h" '#pragma once'
  expect layers fail "samples/ocr/page.cpp: includes $layer/a.h: samples include <clvet/...>"
done
tree samples/ocr/page.cpp '#include <base/result.h>'
expect layers fail 'samples include <clvet/...>'
tree samples/ocr/page.cpp '#include "samples/ocr/page.h"' samples/ocr/page.h '#pragma once'
expect layers fail 'samples include <clvet/...>'
tree samples/ocr/page.cpp '#include "line.h"'
expect layers fail 'samples/ocr/page.cpp: includes "line.h": not beside it'
tree samples/ocr/page.cpp '#include <clvet/clvet.h>
#include <vector>
#include "page.h"' samples/ocr/page.h '#pragma once' tests/samples/page_test.cpp '#include "samples/ocr/page.h"'
expect layers pass 'files in order'
tree tests/x_test.cpp '#include "probe/cl/api.h"
#include <CL/cl.h>'
expect layers pass 'files in order'

tree runtime/plan/a.cpp '#include "probe/trial/cases.h"' probe/trial/cases.h '#pragma once'
expect layers fail 'runtime/plan/a.cpp: includes probe/trial/cases.h: plans and runs rest on reports'
tree runtime/plan/a.cpp '#include "probe/probe.h"' probe/probe.h '#pragma once'
expect layers fail 'plans and runs rest on reports'
tree probe/a/a.h '#include "probe/b/b.h"' probe/b/b.h '#include "probe/c/c.h"' probe/c/c.h '#include "probe/a/a.h"'
expect layers fail 'probe/a, probe/b, probe/c: a circle of rooms: probe/a/a.h includes probe/b/b.h'
tree runtime/a.h '#include "runtime/b/b.h"' runtime/b/b.h '#include "runtime/a.h"'
expect layers fail 'runtime, runtime/b: a circle of rooms'
tree probe/a/a.h '#include "probe/b/b.h"' probe/b/b.h '#include "probe/c/c.h"' probe/c/c.h '#include "base/result.h"'
expect layers pass 'files in order'

tree base/a.cpp "$(body 100)"
expect budgets pass 'function p95 100'
tree base/a.cpp "$(body 101)"
expect budgets fail 'base/a.cpp:1: function of 101 lines'
tree base/a.cpp "namespace clvet {
$(body 50)

$(body 60)
}  // namespace clvet"
expect budgets pass '2 functions'
tree base/a.cpp "int g(int a);

Result<int> Long(int a,
                 int b) {
$(yes '  ++a;' | head -n 120)
}"
expect budgets fail 'base/a.cpp:3: function of 123 lines'
tree base/a.cpp "$(for i in $(seq 16); do body 25; done)" base/b.cpp "$(for i in $(seq 4); do body 25; done)"
expect budgets pass 'function p95 25 lines'
tree base/a.cpp "$(for i in $(seq 16); do body 26; done)" base/b.cpp "$(for i in $(seq 4); do body 4; done)"
expect budgets fail 'functions: p95 is 26 lines \(limit 25\)'
tree tests/a_test.cpp "$(body 130)"
expect budgets pass 'warning: tests/a_test.cpp:1: function of 130'
tree base/a.cpp "$(many 451)"
expect budgets fail 'base/a.cpp: 451 lines \(limit for a source: 450\)'
tree base/a.cpp "$(many 450)"
expect budgets pass 'source p95 450'
tree tests/a_test.cpp "$(many 801)"
expect budgets fail 'tests/a_test.cpp: 801 lines \(limit for a source: 800\)'
tree tests/a_test.cpp "$(many 600)"
expect budgets pass 'warning: tests/a_test.cpp: 600 lines'
tree base/a.h "$(many 401)"
expect budgets fail 'limit for a header: 400'
tree kernels/ops/gemm/gemm.cl "$(many 401)"
expect budgets fail 'limit for a kernel: 400'
tree base/a.cpp 'const char* text = "[a;b] ${x} \\";

int g() {
  return 1;
}'
expect budgets pass '1 functions'

tree runtime/a.cpp 'if (error.message == "no such node") return;'
expect messages fail 'runtime/a.cpp:1: compares a sentence'
tree probe/a.cpp 'const bool bad = fault.starts_with("has more than one line");'
expect messages fail 'probe/a.cpp:1: searches in a sentence'
tree probe/a.cpp 'if (row.reason.find("clIcdGetPlatformIDsKHR") != npos) return;'
expect messages fail 'searches in a sentence'
tree runtime/a.cpp 'if (contains_ignoring_case(error.message, "half")) return;'
expect messages fail 'searches in a sentence'
tree runtime/a.cpp 'if (row.reason.empty()) text = fmt::format("{}: {}", row.reason, "x"); // reason == "y"'
expect messages pass 'nobody reads them'
tree probe/data/advice/rules/a.json '{"when": [{"all": [{"fact": "icd-fault", "fault": {"like": "CR LF"}}]}]}'
expect messages fail "a.json: matches 'fault' of 'icd-fault' by pattern"
tree probe/data/advice/rules/a.json '{"when": [{"all": [{"fact": "text", "text": {"like": "errno 13"}}]}]}'
expect messages pass 'nobody reads them'

catalogue() { put base/catalogue/same.json '[]' base/catalogue/zh/cli.json "$1" base/catalogue/not_for_people/cli.json "${2:-[]}"; }
tree cli/a.cpp 'tr("report written: {}", path);'
catalogue '{"report written: {}": "报告已写入:{}"}'
expect language pass '1 entries'
catalogue '{}'
expect language fail 'cli/a.cpp:1: no entry of base/catalogue/zh: "report written: \{\}"'
catalogue '{"report written: {}": "report written: {}"}'
expect language fail 'the Chinese is missing'
catalogue '{"report written: {}": "报告已写入"}'
expect language fail 'the fields differ'
catalogue '{"report written: {}": "报告已写入:{}", "no report yet": "还没有报告"}'
expect language fail "'no report yet': no source has this text"
tree runtime/a.cpp 'reason = "no kernel computes" " this node";'
catalogue '{}'
expect language fail 'no entry of base/catalogue/zh: "no kernel computes this node"'
catalogue '{}' '["no kernel computes this node"]'
expect language pass '0 entries'
catalogue '{}' '["no kernel computes this node", "gone from here"]'
expect language fail "cli.json: 'gone from here': no source has it"

if [ $failures -gt 0 ]; then
  echo "$failures failure(s)"
  exit 1
fi
echo "all checks behave"
