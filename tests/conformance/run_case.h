// Runs one node test and says how it went.
#pragma once

#include <string>
#include <vector>

#include "probe/report/report.h"
#include "tests/conformance/by_design.h"
#include "tests/conformance/suite.h"

namespace clvet::conformance {

// Words of a result. On the host: kHost, or one of the last three. On a device, a right result is
//   kOpenCl        every node ran there but those that the list keeps on the host
//   kHostByDesign  nothing ran there, and all of the model's operators are on the list
//   kFellBack      some other node ran on the host
inline constexpr const char* kOpenCl = "opencl";
inline constexpr const char* kHostByDesign = "host-by-design";
inline constexpr const char* kFellBack = "fell-back";
inline constexpr const char* kHost = "host";
inline constexpr const char* kWrong = "wrong";
inline constexpr const char* kUnsupported = "unsupported";  // refused, or ended with an error
inline constexpr const char* kCrash = "crash";              // the process ended, or hung

// An operator that kept the case from passing, and why.
struct Blame {
  std::string op, why;
};

struct CaseResult {
  std::string name, word, detail;
  std::vector<Blame> blames;
};

struct RunSettings {
  std::string device;              // "host" or a selector
  const Report* report = nullptr;  // for a device
  const HostByDesign* by_design = nullptr;
};

// Float32 throughout, as `clvet run --precision high` would. Never fails: faults are words.
CaseResult run_case(const Case& test, const RunSettings& settings);

}  // namespace clvet::conformance
