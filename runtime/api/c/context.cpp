#include "clvet/context.h"

#include "clvet/clvet_c.h"
#include "runtime/api/c/call.h"
#include "runtime/api/c/handles.h"  // IWYU pragma: keep

using namespace clvet::v1::c;
using clvet::v1::Context;

clvet_code clvet_context_open(const char* report, const char* state_dir, clvet_context** out) {
  clear(out);
  return call(__func__, {{"out", out}}, [&] {
    return give(out, Context::open({.report = text_or(report), .state_dir = text_or(state_dir)}));
  });
}

void clvet_context_free(clvet_context* context) { delete context; }
