// What is known of this machine: reports, how they are made, and the plans that follow from them.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "clvet/abi.h"
#include "clvet/result.h"
#include "clvet/tensor.h"

CLVET_ABI_BEGIN

struct DeviceSummary {
  std::string id, name, platform, driver;
  std::string type;     // "gpu", "cpu" or "accelerator"
  std::string library;  // the file that it was found in
  // Its best combination that was found right, as precision, memory, activations and weights;
  // empty: none.
  std::string best;
};

struct Report {
  std::string file;       // empty: it lies in none
  bool complete = false;  // all of its tier was tried
  std::vector<DeviceSummary> devices;
  std::string json;  // all of it: clvet.report/1
};

struct ProbeOptions {
  std::vector<std::string> libraries;  // these alone; empty: all that are found
  std::string device;                  // those that match alone; empty: all
  std::string tier = "core";           // "core" or "full"
  double budget_seconds = 0;           // ends then, with what is known; 0: no limit
  bool fresh = false;                  // does not go on where an earlier probe was interrupted
  bool if_changed = false;             // nothing is done where the report still holds
  std::string report;     // file to write; empty: the one that sessions on this machine go by
  std::string state_dir;  // empty: $CLVET_STATE_DIR or the XDG folder
  // The program that tries the drivers; empty: $CLVET_PROGRAM, or `clvet` beside this library, or
  // on the PATH.
  std::string program;
  // Gets what is going on, a line at a time, from the thread that waits; an empty line twice a
  // second while there is nothing new. False: end it (cancelled).
  std::function<bool(const std::string& line)> progress;
};

// Tries this machine's OpenCL drivers and keeps the report. Another process does it ('clvet
// probe'), which no driver of this one can harm, and the other way round. A machine without devices
// has a report, too. not_found: there is no such program. busy: another probe is running.
CLVET_API Result<Report> probe(const ProbeOptions& options = {});

// The report in `file`; empty: the one in `state_dir` (empty: as above), unavailable where there is
// none yet.
CLVET_API Result<Report> read_report(const std::string& file = {},
                                     const std::string& state_dir = {});

struct PlanOptions {
  std::string device = "auto";     // of the report, or "host"
  std::string precision = "auto";  // "auto", "low", "normal" or "high"
  std::string memory = "auto";     // "auto", "low" or "normal"
  std::string report;              // may be another machine's; empty: as read_report()
  std::string state_dir;
  std::map<std::string, Shape> shapes;  // of the inputs that an ONNX model leaves open
};

// How an ONNX or GGUF model runs on a device of a report: clvet.plan/1. Loads no driver.
CLVET_API Result<std::string> plan(const std::string& model, const PlanOptions& options = {});

CLVET_ABI_END
