// Runs a model once or more on what a report allows, and falls back instead of dying.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "probe/report/report.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/run/network_options.h"
#include "runtime/run/open_network.h"
#include "runtime/run/profile.h"
#include "runtime/run/run_record.h"
#include "runtime/run/steps.h"

namespace clvet {

struct ModelRunOptions : NetworkOptions {
  int repeat = 1;              // timed runs after the first
  std::function<bool()> stop;  // true: no more timed runs; may be empty
  bool node_times = false;
  std::optional<StepOptions> steps;  // in place of the timed runs
  bool profile = false;
};

struct ModelRun {
  std::map<std::string, Tensor> outputs;
  std::optional<Profile> profile;  // where it was wanted, and could be made
  RunRecord record;                // outputs and model are the caller's to fill
  // What was opened of drivers. It may die when it is released: keep it until the outputs are safe.
  std::shared_ptr<OpenNetwork> session;
};

// `graph` as read from the file; `report` may be null for the host. With steps, `inputs` are those
// of the first one. Inputs are checked by name, type and shape. Errors: kInvalidArgument (inputs),
// kNoDevice (selector), kUnavailable (strict and a fallback was needed; the message names it).
Result<ModelRun> run_model(Graph graph, const std::map<std::string, Tensor>& inputs,
                           const Report* report, const ModelRunOptions& options);

}  // namespace clvet
