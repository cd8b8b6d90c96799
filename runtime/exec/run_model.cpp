#include "runtime/exec/run_model.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/event.h"
#include "base/numbers.h"
#include "base/result.h"
#include "kernels/combination.h"
#include "probe/report/report.h"
#include "runtime/exec/device.h"
#include "runtime/exec/measured_times.h"
#include "runtime/exec/run_record.h"
#include "runtime/exec/session.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/passes.h"
#include "runtime/graph/tensor.h"
#include "runtime/host/executor.h"
#include "runtime/infer/infer.h"
#include "runtime/plan/device_choice.h"
#include "runtime/plan/network_plan.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/planner.h"
#include "runtime/plan/variant_table.h"

namespace clvet {
namespace {

double ms_since(double start) { return (monotonic_seconds() - start) * 1e3; }

std::map<std::string, Shape> shapes_of(const std::map<std::string, Tensor>& inputs) {
  std::map<std::string, Shape> shapes;
  for (const auto& [name, tensor] : inputs) shapes[name] = tensor.shape();
  return shapes;
}

void describe_plan(const ExecutionPlan& plan, RunRecord& record) {
  record.combination = plan.combination;
  record.refused = plan.refused;
  record.nodes.clear();
  const PlanPhase& phase = plan.phases.front();
  const std::vector<std::string> variants = variants_of(phase);
  for (size_t i = 0; i < phase.nodes.size(); ++i) {
    const PlannedNode& node = phase.nodes[i];
    record.nodes.push_back({node.name, node.op, node.place == Place::kHost ? "host" : "opencl",
                            variants[i], variant_key_of(variants[i]), node.reason, 0, node.ms});
  }
  record.fallbacks.insert(record.fallbacks.end(), plan.fallbacks.begin(), plan.fallbacks.end());
}

// Each node's time over a few runs, in the way that its device's report has launches.
Status time_nodes(Session& session, const std::map<std::string, Tensor>& inputs, bool on_processor,
                  RunRecord& record) {
  constexpr size_t kMostRuns = 9;
  constexpr double kPatience = 0.5;  // seconds
  std::vector<std::vector<double>> samples(record.nodes.size());
  const double until = monotonic_seconds() + kPatience;
  for (size_t run = 0; run == 0 || (run < kMostRuns && monotonic_seconds() < until); ++run) {
    NodeTimes times{.piped = on_processor};
    CLVET_ASSIGN_OR_RETURN(const auto outputs, session.run(inputs, &times));
    for (size_t i = 0; i < samples.size(); ++i) samples[i].push_back(times.ms.at(i));
  }
  for (size_t i = 0; i < samples.size(); ++i) {
    record.nodes[i].ms = on_processor ? undisturbed(samples[i]) : median(std::move(samples[i]));
  }
  return {};
}

Result<std::map<std::string, Tensor>> run_session(Session& session,
                                                  const std::map<std::string, Tensor>& inputs,
                                                  const DeviceReport* device,
                                                  const ModelRunOptions& options,
                                                  RunRecord& record) {
  double started = monotonic_seconds();
  CLVET_ASSIGN_OR_RETURN(auto outputs, session.run(inputs));
  record.first_ms = ms_since(started);
  std::vector<double> samples;
  for (int i = 0; i < options.repeat; ++i) {
    started = monotonic_seconds();
    CLVET_ASSIGN_OR_RETURN(outputs, session.run(inputs));
    samples.push_back(ms_since(started));
  }
  if (!samples.empty()) {
    record.min_ms = *std::min_element(samples.begin(), samples.end());
    record.median_ms = median(std::move(samples));
  }
  if (options.node_times) {
    const bool on_processor = device && is_processor(*device);
    CLVET_RETURN_IF_ERROR(time_nodes(session, inputs, on_processor, record));
  }
  return outputs;
}

void warn(const ModelRunOptions& options, RunRecord& record, const std::string& text) {
  record.warnings.push_back(text);
  if (options.sink) options.sink({EventLevel::kWarning, "warning: " + text});
}

void fall_to_host(const Graph& graph, const Error& error, const ModelRunOptions& options,
                  NetworkPlan& choice, RunRecord& record) {
  warn(options, record, fmt::format("the device failed ({}); computed on the host", error.message));
  record.fallbacks.push_back({"*", record.device, "host", "launch-error"});
  record.device = "host";
  choice.device = nullptr;
  choice.plan = plan_on_host(graph, error.message);
  describe_plan(choice.plan, record);
}

// Whether host and device are to be compared: somebody left all of it to us.
bool may_compare(const NetworkPlan& choice, const ModelRunOptions& options) {
  const PlanOverrides& words = options.overrides;
  return choice.device && !options.plan && options.device == "auto" &&
         !options.times_file.empty() && !options.strict && !words.precision && !words.memory &&
         !words.activations && !words.weights;
}

std::string times_key(const NetworkPlan& choice, const std::map<std::string, Tensor>& inputs,
                      const ModelRunOptions& options) {
  std::string shapes;
  for (const auto& [name, tensor] : inputs) {
    shapes += fmt::format(" {}={}", name, to_string(tensor.type()));
  }
  return fmt::format("{} {} {}{}", options.model_key.substr(0, 16),
                     choice.device->environment_key.substr(0, 16),
                     to_string(choice.plan.combination), shapes);
}

// A warm run of each, the host's given up once it is far behind.
Result<MeasuredTimes> measure_both(Session& on_device, const Graph& graph,
                                   const std::map<std::string, Tensor>& inputs) {
  CLVET_ASSIGN_OR_RETURN(Session on_host,
                         Session::create(graph, plan_on_host(graph, "measured"), nullptr));
  MeasuredTimes times;
  double started = monotonic_seconds();
  CLVET_RETURN_IF_ERROR(on_device.run(inputs));
  times.device_ms = ms_since(started);
  for (const double patience : {4.0, 1.0}) {
    started = monotonic_seconds();
    const auto ran = on_host.run(inputs, nullptr, started + patience * times.device_ms * 1e-3);
    times.host_ms = ms_since(started);
    if (!ran && ran.error().code == ErrorCode::kDeadlineExceeded) break;
    if (!ran) return tl::unexpected(ran.error());
  }
  return times;
}

// Makes the choice the host's where that was measured to be faster.
void prefer_host(const Graph& graph, const MeasuredTimes& times, NetworkPlan& choice,
                 RunRecord& record) {
  record.choice = times;
  if (!times.host_wins()) return;
  choice.reason = fmt::format("faster here: {:.3g} ms against {:.3g} ms on {}", times.host_ms,
                              times.device_ms, choice.device->name);
  choice.device = nullptr;
  choice.plan = plan_on_host(graph, choice.reason);
  record.fallbacks.clear();
  describe_plan(choice.plan, record);
  record.device = "host";
}

// Leaves `choice` without a device where the host turned out to be faster.
Result<std::map<std::string, Tensor>> run_on_device(NetworkPlan& choice, const Graph& graph,
                                                    const std::map<std::string, Tensor>& inputs,
                                                    const ModelRunOptions& options,
                                                    RunRecord& record) {
  const double started = monotonic_seconds();
  CLVET_ASSIGN_OR_RETURN(std::unique_ptr<Device> device, Device::open(*choice.device));
  CLVET_ASSIGN_OR_RETURN(Session session, Session::create(graph, choice.plan, device.get()));
  record.build_ms = device->build_ms();
  record.load_ms += ms_since(started) - record.build_ms;
  CLVET_ASSIGN_OR_RETURN(auto outputs,
                         run_session(session, inputs, choice.device, options, record));
  if (!may_compare(choice, options) || record.choice) return outputs;
  CLVET_ASSIGN_OR_RETURN(const MeasuredTimes times, measure_both(session, graph, inputs));
  const std::string key = times_key(choice, inputs, options);
  if (const auto kept = MeasuredTimesFile(options.times_file).keep(key, times); !kept) {
    warn(options, record, "times are measured again next time: " + kept.error().message);
  }
  prefer_host(graph, times, choice, record);
  return outputs;
}

Status refuse_fallback(const NetworkPlan& choice, const ModelRunOptions& options) {
  if (!options.strict) return {};
  if (!choice.device && options.device != "host") {
    return fail(ErrorCode::kUnavailable, "--strict: no device can run the model ({})",
                choice.reason);
  }
  if (choice.plan.fallbacks.empty()) return {};
  const Fallback& first = choice.plan.fallbacks.front();
  return fail(ErrorCode::kUnavailable, "--strict: node '{}' needs a fallback from {} to {} ({})",
              first.node, first.from, first.to, first.verdict);
}

}  // namespace

Result<ModelRun> run_model(Graph graph, const std::map<std::string, Tensor>& inputs,
                           const Report* report, const ModelRunOptions& options) {
  double started = monotonic_seconds();
  CLVET_RETURN_IF_ERROR(check_inputs(graph, inputs));
  CLVET_RETURN_IF_ERROR(optimise(graph));
  CLVET_ASSIGN_OR_RETURN(graph, specialise(graph, shapes_of(inputs), inputs));
  ModelRun result;
  RunRecord& record = result.record;
  record.load_ms = ms_since(started);
  started = monotonic_seconds();
  CLVET_ASSIGN_OR_RETURN(
      NetworkPlan choice,
      plan_network_on(graph, {report, options.device, options.overrides, options.model_key,
                              options.plan ? &*options.plan : nullptr}));
  record.plan_ms = ms_since(started);
  CLVET_RETURN_IF_ERROR(refuse_fallback(choice, options));
  describe_plan(choice.plan, record);
  record.device = choice.device ? choice.device->name : "host";
  if (choice.device) record.not_best = why_not_best(*choice.device, choice.plan);
  if (options.overrides.memory == Memory::kLow) {
    warn(options, record, "memory low changes nothing: the model's weights are not quantised");
  }
  if (!choice.plan.fallbacks.empty()) {
    const Fallback& first = choice.plan.fallbacks.front();
    warn(options, record,
         fmt::format(
             "{} nodes avoid kernels that are not right here, first '{}': {} is {}, runs on {}",
             choice.plan.fallbacks.size(), first.node, first.from, first.verdict, first.to));
  }
  if (may_compare(choice, options)) {
    const auto times =
        MeasuredTimesFile(options.times_file).find(times_key(choice, inputs, options));
    if (times) prefer_host(graph, *times, choice, record);
  }
  if (choice.device) {
    auto outputs = run_on_device(choice, graph, inputs, options, record);
    if (outputs && choice.device) {
      result.outputs = std::move(*outputs);
      return result;
    }
    if (!outputs && options.strict) {
      return fail(ErrorCode::kUnavailable, "--strict: {}", outputs.error().message);
    }
    if (!outputs) fall_to_host(graph, outputs.error(), options, choice, record);
  } else if (options.device != "host" && !record.choice) {
    warn(options, record, "runs on the host: " + choice.reason);
  }
  CLVET_ASSIGN_OR_RETURN(Session session, Session::create(graph, std::move(choice.plan), nullptr));
  CLVET_ASSIGN_OR_RETURN(result.outputs, run_session(session, inputs, nullptr, options, record));
  return result;
}

}  // namespace clvet
