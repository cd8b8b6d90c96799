// `clvet discover` as a library: what OpenCL is here or in a tree, what stands in the way, whether
// a framework would find it, and what to do.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "probe/diagnose/fix_script.h"
#include "probe/diagnose/rules.h"
#include "probe/discover/discover.h"
#include "probe/files/personalities.h"
#include "probe/files/survey.h"
#include "probe/report/report.h"

namespace clvet {

struct DiagnosisOptions {
  std::string root;      // a tree, whose files are read and never loaded; empty: this machine
  std::string as;        // a framework's name; empty: none
  std::string data_dir;  // replaces embedded data (data_files.h); empty: none
  DiscoverySettings discovery;  // of this machine
};

struct FrameworkDiagnosis {
  Personality personality;
  std::string flags;  // with which it opens libraries on this system
  Replay replay;
  std::optional<LeastChange> change;  // where the replay does not succeed and something would help
  std::optional<SourceEdit> edit;     // as `change`
  // Where nothing would: what has to be installed first. "library" (loader and driver), "driver",
  // "gpu-driver" (those that are here are the CPU's), "listing" (Android keeps apps from what is
  // here), "device" (the framework takes none of those here); empty where we do not know.
  std::string missing;
};

struct Diagnosis {
  std::string root;  // absolute; empty: this machine
  Survey survey;
  std::optional<Report> live;  // discovery's part of a report; none of a tree
  std::vector<Finding> findings;
  std::optional<FrameworkDiagnosis> framework;
  bool usable = false;  // a device here; of a tree: a driver that opens
  // What is usable, by libOpenCL.so or libOpenCL.so.1, which programs look for.
  bool reachable = false;
};

// kInvalidArgument: an unknown framework, bad data; kNotFound: no such tree; kDeadlineExceeded: an
// interrupt came (interrupt_requested) while drivers were tried.
Result<Diagnosis> diagnose(const DiagnosisOptions& options);

// What `edit` says, two lines; there must be one.
std::string source_edit_text(const FrameworkDiagnosis& framework, const std::string& lang);

// The framework's least change, else the first fix of each finding.
std::vector<ScriptStep> script_steps(const Diagnosis& diagnosis, const std::string& lang);

// "clvet.discover/1" (reports/schema/discover.schema.json).
std::string diagnosis_to_json(const Diagnosis& diagnosis);

}  // namespace clvet
