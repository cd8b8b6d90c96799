// Loading one library that may hold OpenCL. Called in a worker, or by the runtime once a report
// vouches for the library; never by the supervisor.
#pragma once

#include <string>

#include "base/result.h"
#include "probe/cl/api.h"
#include "probe/report/report.h"

namespace clvet {

struct LoadedLibrary {
  ClApi api;
  std::string path;          // the file that was loaded
  bool through_icd = false;  // entered by clIcdGetPlatformIDsKHR and dispatch tables
  int symbols = 0;
  LoaderKind loader_kind = LoaderKind::kNone;  // kNone: it does not say that it is a loader
  std::string loader_version;
};

struct LoadFailure {
  CandidateOutcome outcome = CandidateOutcome::kError;
  std::string reason;
};

// dlopens `name` (bare or a path) and finds its entry points: those that Google's pair enableOpenCL
// and loadOpenCLPointer gives, else exported cl* names, else those of the dispatch table behind
// clIcdGetPlatformIDsKHR. The library is never closed.
tl::expected<LoadedLibrary, LoadFailure> load_library(const std::string& name);

// The class of a dlopen error text. Pure, for tests; `name` is what was asked for.
LoadFailure classify_load_error(const std::string& name, const std::string& text);

}  // namespace clvet
