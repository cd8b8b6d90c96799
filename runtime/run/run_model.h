// Runs a model once or more on what a report allows, and falls back instead of dying.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/event.h"
#include "base/result.h"
#include "probe/report/report.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/plan/plan.h"
#include "runtime/run/run_record.h"

namespace clvet {

struct ModelRunOptions {
  std::string device = "auto";  // "auto", "host" or a selector of the report's devices
  PlanOverrides overrides;
  bool strict = false;         // no fallback
  int repeat = 1;              // timed runs after the first
  std::function<bool()> stop;  // true: no more timed runs; may be empty
  bool node_times = false;
  // Executes this plan (checked for this model and device) and does not plan anew.
  std::optional<ExecutionPlan> plan;
  // With device "auto" and no word of a combination given: a model's first run on a device is timed
  // against the host, the figures are kept in `state_dir` under `model_key`, and the faster one
  // serves. What is found out in use is kept there, too. Empty: nothing is kept, and the device
  // serves.
  std::string state_dir;
  std::string model_key;  // SHA-256 of the model's file
  // The part of the answers that the host computes as well; empty: as many as take a fiftieth of
  // the time. The first one of a plan in an environment always is.
  std::optional<double> self_check;
  EventSink sink;
};

struct ModelRun {
  std::map<std::string, Tensor> outputs;
  RunRecord record;  // outputs and model are the caller's to fill
  // What was opened of drivers. It may die when it is released: keep it until the outputs are safe.
  std::vector<std::shared_ptr<void>> opened;
};

// `graph` as read from the file; `report` may be null for the host. Inputs are checked by name,
// type and shape. Errors: kInvalidArgument (inputs), kNoDevice (selector), kUnavailable (strict and
// a fallback was needed; the message names it).
Result<ModelRun> run_model(Graph graph, const std::map<std::string, Tensor>& inputs,
                           const Report* report, const ModelRunOptions& options);

}  // namespace clvet
