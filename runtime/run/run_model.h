// Runs a model once or more on what a report allows, and falls back instead of dying.
#pragma once

#include <map>
#include <optional>
#include <string>

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
  bool strict = false;  // no fallback
  int repeat = 1;       // timed runs after the first
  bool node_times = false;
  // Executes this plan (checked for this model and device) and does not plan anew.
  std::optional<ExecutionPlan> plan;
  // With device "auto" and no word of a combination given: a model's first run on a device is timed
  // against the host, the figures are kept in `times_file` under `model_key`, and the faster one
  // serves. Empty: the device serves.
  std::string times_file;
  std::string model_key;  // SHA-256 of the model's file
  EventSink sink;
};

struct ModelRun {
  std::map<std::string, Tensor> outputs;
  RunRecord record;  // outputs and model are the caller's to fill
};

// `graph` as read from the file; `report` may be null for the host. Inputs are checked by name,
// type and shape. Errors: kInvalidArgument (inputs, selector), kUnavailable (strict and a fallback
// was needed; the message names it).
Result<ModelRun> run_model(Graph graph, const std::map<std::string, Tensor>& inputs,
                           const Report* report, const ModelRunOptions& options);

}  // namespace clvet
