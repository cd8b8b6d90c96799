#include "clvet/placement.h"

#include <cstddef>
#include <cstdint>

#include "clvet/clvet_c.h"
#include "runtime/api/c/call.h"
#include "runtime/api/c/handles.h"  // IWYU pragma: keep

using namespace clvet::v1::c;

clvet_code clvet_session_placement(const clvet_session* session, clvet_placement** out) {
  clear(out);
  return call(__func__, {{"session", session}, {"out", out}},
              [&] { return give(out, session->session.placement()); });
}

clvet_code clvet_language_placement(const clvet_language* model, clvet_placement** out) {
  clear(out);
  return call(__func__, {{"model", model}, {"out", out}},
              [&] { return give(out, model->model.placement()); });
}

const char* clvet_placement_device(const clvet_placement* placement) {
  return placement ? placement->placement.device.c_str() : "";
}

const char* clvet_placement_precision(const clvet_placement* placement) {
  return placement ? placement->placement.precision.c_str() : "";
}

uint64_t clvet_placement_generation(const clvet_placement* placement) {
  return placement ? placement->placement.generation : 0;
}

size_t clvet_placement_warning_count(const clvet_placement* placement) {
  return placement ? placement->placement.warnings.size() : 0;
}

const char* clvet_placement_warning(const clvet_placement* placement, size_t index) {
  if (index >= clvet_placement_warning_count(placement)) return "";
  return placement->placement.warnings[index].c_str();
}

void clvet_placement_free(clvet_placement* placement) { delete placement; }
