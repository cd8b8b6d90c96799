// Where OpenCL may be: the candidates, found without loading any of them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "probe/report/report.h"

namespace clvet {

struct Candidate {
  std::string name;  // what dlopen is given
  Origin origin = Origin::kKnownName;
};

struct CandidateList {
  std::vector<Candidate> candidates;  // in the order in which they are tried, each name once
  std::vector<IcdFileReport> icd_files;
};

// A variable of the environment, or nullopt. Passed in, so that the search is testable.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

// With `libraries`, these only. Else the system loader, the library of every ICD file (the folder
// or file that OCL_ICD_VENDORS, OCL_ICD_FILENAMES or OPENCL_VENDOR_PATH name, else
// /etc/OpenCL/vendors), libraries that libopencl-stub's and OpenCV's variables name, and the names
// of library_names.h.
Result<CandidateList> find_candidates(const std::vector<std::string>& libraries,
                                      const Environment& environment);

}  // namespace clvet
