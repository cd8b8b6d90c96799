#include "probe/trial/judge.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "base/text.h"
#include "kernels/combination.h"
#include "kernels/contract.h"
#include "kernels/layout.h"
#include "kernels/tolerance.h"
#include "probe/cl/api.h"
#include "probe/process/process.h"
#include "probe/report/device_features.h"
#include "probe/report/report.h"
#include "probe/trial/cases.h"
#include "probe/trial/material.h"
#include "probe/trial/request.h"
#include "probe/worker/protocol.h"
#include "probe/worker/supervisor.h"

namespace clvet {
namespace {

constexpr size_t kKeptText = 8 << 10;

bool is_sentinel(std::byte byte) { return byte == std::byte{kSentinel}; }

bool untouched(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), is_sentinel);
}

std::vector<std::byte> inside_of_buffer(const MemoryRequest& memory,
                                        std::span<const std::byte> reading, std::string& note) {
  if (!untouched(reading.first(memory.guard))) {
    note = "the kernel wrote into the guard zone before the output";
  } else if (!untouched(reading.subspan(memory.guard + memory.bytes))) {
    note = "the kernel wrote into the guard zone after the output";
  }
  const auto inner = reading.subspan(memory.guard, memory.bytes);
  return {inner.begin(), inner.end()};
}

std::vector<std::byte> inside_of_image(const MemoryRequest& memory,
                                       std::span<const std::byte> reading, std::string& note) {
  std::vector<std::byte> tensor;
  const uint64_t texel = texel_bytes(memory.texel);
  const auto row_bytes = static_cast<uint64_t>(memory.width) * texel;
  const auto pitch = static_cast<uint64_t>(memory.width + memory.guard_texels) * texel;
  for (int64_t y = 0; y < memory.height + memory.guard_texels; ++y) {
    const auto row = reading.subspan(static_cast<uint64_t>(y) * pitch, pitch);
    const auto inner = row.first(y < memory.height ? row_bytes : 0);
    tensor.insert(tensor.end(), inner.begin(), inner.end());
    if (!untouched(row.subspan(inner.size())))
      note = "the kernel wrote texels outside the output image";
  }
  return tensor;
}

// The tensor's own bytes of one reading; empty where a guard was touched (then `note` says where).
std::vector<std::byte> without_guards(const MemoryRequest& memory,
                                      std::span<const std::byte> reading, std::string& note) {
  return memory.image ? inside_of_image(memory, reading, note)
                      : inside_of_buffer(memory, reading, note);
}

// All outputs of one launch, one after the other.
struct Reading {
  Values values;
  std::vector<std::byte> bytes;
  bool padding_clean = true;
  std::string note;  // what was written where nothing should be
};

// Gives the elements that must not be written the reference's value where they were not.
void check_untouched(const ReferenceResult& reference, size_t first, Precision precision,
                     std::span<const std::byte> tensor, Reading& reading) {
  const size_t element = stores_half(precision) ? 2 : 4;
  for (size_t i = first; i < reading.values.size() && !reference.untouched.empty(); ++i) {
    if (!reference.untouched[i]) continue;
    const auto bytes = tensor.subspan((i - first) * element, element);
    if (untouched(bytes)) {
      reading.values[i] = reference.value[i];
    } else if (reading.note.empty()) {
      reading.note = fmt::format("the kernel wrote value {}, which it must not write", i);
    }
  }
}

// True where a later reading holds what the first one does, guards and all: it is as right.
bool same_as_first(std::span<const OutputReadings> outputs, int repeat) {
  return std::all_of(outputs.begin(), outputs.end(), [&](const OutputReadings& output) {
    const uint64_t size = output.memory.read_bytes();
    const auto later = output.bytes.subspan(size * static_cast<uint64_t>(repeat), size);
    return std::memcmp(output.bytes.data(), later.data(), size) == 0;
  });
}

// Most kernels have one output, whose values need not be copied.
template <class T>
void append(std::vector<T> from, std::vector<T>& to) {
  if (to.empty()) {
    to = std::move(from);
  } else {
    to.insert(to.end(), from.begin(), from.end());
  }
}

Reading read_outputs(const TrialCase& trial, const Material& material,
                     std::span<const OutputReadings> outputs, int repeat) {
  Reading reading;
  size_t next = 0;
  for (const TensorRole& role : material.roles) {
    if (role.kind != TensorKind::kOutput || next == outputs.size()) continue;
    const OutputReadings& output = outputs[next++];
    const uint64_t size = output.memory.read_bytes();
    const auto bytes = output.bytes.subspan(size * static_cast<uint64_t>(repeat), size);
    auto tensor = without_guards(output.memory, bytes, reading.note);
    bool clean = true;
    Values values = decode_activation(role, trial.variant.precision, tensor, &clean);
    const size_t first = reading.values.size();
    append(std::move(values), reading.values);
    check_untouched(material.reference, first, trial.variant.precision, tensor, reading);
    append(std::move(tensor), reading.bytes);
    reading.padding_clean &= clean;
  }
  return reading;
}

// Empty where the reading is right.
std::string fault_of(const Reading& reading, const Comparison& found) {
  if (!found.right) {
    return fmt::format(
        "{} of {} values are outside the bound, first at {}: {:.6g} instead of {:.6g}", found.bad,
        reading.values.size(), found.first_bad, found.got, found.want);
  }
  if (reading.note.empty() && !reading.padding_clean)
    return "a padding lane of the output is not zero";
  return reading.note;
}

void reject_reading(Verdict found, const std::string& fault, VerdictReport& verdict) {
  verdict.verdict = found;
  verdict.stage = Stage::kRead;
  verdict.evidence.note = fault;
}

// A worker may say that the driver failed, and in these words alone; that it did not is what the
// supervisor finds in the outputs.
bool may_be_said(Verdict verdict) {
  return verdict == Verdict::kBuildError || verdict == Verdict::kKernelCreateFailed ||
         verdict == Verdict::kLaunchError || verdict == Verdict::kLie;
}

void call_unreadable(VerdictReport& verdict) {
  verdict.verdict = Verdict::kToolError;
  verdict.evidence.note =
      "the answer of the process cannot be read; the driver may have overwritten it";
}

void take_fault(const nlohmann::json& reply, Verdict found, VerdictReport& verdict) {
  verdict.verdict = found;
  verdict.stage = parse_stage(text_in(reply, "stage")).value_or(Stage::kBuild);
  Evidence& evidence = verdict.evidence;
  evidence.call = text_in(reply, "call");
  evidence.cl_error = static_cast<int>(number_in(reply, "cl_error"));
  evidence.log = shorten(text_in(reply, "log"), kKeptText);
  evidence.note = text_in(reply, "note");
  if (evidence.note.empty() && evidence.cl_error != 0) {
    evidence.note = evidence.call + ": " + cl_error_name(evidence.cl_error);
  }
  constexpr double kLogCap = 1 << 20;
  if (const double claimed = number_in(reply, "log_bytes"); claimed > kLogCap) {
    evidence.note = fmt::format("{}; the driver claims a build log of {:.0f} bytes, not fetched",
                                evidence.note, claimed);
  }
}

std::optional<double> time_in(const nlohmann::json& reply, const char* name) {
  const double ms = number_in(reply, name);
  return std::isfinite(ms) && ms > 0 ? std::optional(ms) : std::nullopt;
}

// What the worker says of its launches, unless it cannot be true: its clock may stand still, and no
// launch took longer than the whole request.
void take_times(const nlohmann::json& reply, double flops, VerdictReport& verdict) {
  const double median = number_in(reply, "median_ms"), spread = number_in(reply, "spread_ms");
  if (!std::isfinite(median) || median <= 0 || !std::isfinite(spread) || spread < 0) return;
  if (median > verdict.evidence.wall_ms) return;
  verdict.median_ms = median;
  verdict.spread_ms = spread;
  verdict.piped_ms = time_in(reply, "piped_ms");
  verdict.launch_ms = time_in(reply, "launch_ms");
  verdict.piped_launch_ms = time_in(reply, "piped_launch_ms");
  if (flops > 0) verdict.gflops = flops / median * 1e-6;
}

// What the driver wrote into each output, as long as `mappings` live.
Result<std::vector<OutputReadings>> map_outputs(const PreparedTrial& prepared,
                                                std::vector<Mapping>& mappings) {
  std::vector<OutputReadings> outputs;
  for (const size_t index : prepared.outputs) {
    const MemoryRequest& memory = prepared.request.memory[index];
    const uint64_t size = memory.read_bytes() * static_cast<uint64_t>(prepared.request.readings());
    const int fd = prepared.fds[static_cast<size_t>(memory.fd)].get();
    CLVET_ASSIGN_OR_RETURN(Mapping mapping, Mapping::of(fd, size, false));
    mappings.push_back(std::move(mapping));
    outputs.push_back({memory, mappings.back().bytes()});
  }
  return outputs;
}

Status judge_reply(const TrialCase& trial, const Material& material, const PreparedTrial& prepared,
                   const nlohmann::json& reply, VerdictReport& verdict) {
  if (const auto fault = text_in(reply, "fault"); !fault.empty()) {
    verdict.verdict = Verdict::kToolError;
    verdict.evidence.note = fault;
    return {};
  }
  if (reply.contains("verdict")) {
    const auto found = parse_verdict(text_in(reply, "verdict"));
    if (found && may_be_said(*found)) {
      take_fault(reply, *found, verdict);
    } else {
      call_unreadable(verdict);
    }
    return {};
  }
  if (static_cast<int>(number_in(reply, "repeats")) != prepared.request.readings()) {
    call_unreadable(verdict);
    return {};
  }
  std::vector<Mapping> mappings;
  CLVET_ASSIGN_OR_RETURN(const auto outputs, map_outputs(prepared, mappings));
  judge_outputs(trial, material, prepared.request.readings(), outputs, verdict);
  if (verdict.verdict == Verdict::kPass) take_times(reply, prepared.flops, verdict);
  return {};
}

void judge_crash(const ExitState& exit, VerdictReport& verdict) {
  verdict.verdict = Verdict::kCrash;
  verdict.evidence.signal = exit.signal;
  if (exit.signal) {
    verdict.evidence.note = fmt::format("signal {} ended the process", exit.signal);
  } else {
    verdict.evidence.exit_status = exit.exit_status;
    verdict.evidence.note =
        fmt::format("the driver ended the process with status {}", exit.exit_status);
  }
}

WrongValue kind_of(double value) {
  if (!std::isfinite(value)) return WrongValue::kNotFinite;
  return value == 0 ? WrongValue::kZero : WrongValue::kOther;
}

ErrorEvidence evidence_of(const Comparison& found) {
  return {found.max_abs, found.max_ulp, found.bound, found.first_bad,
          found.first_bad < 0 ? WrongValue::kOther : kind_of(found.got)};
}

}  // namespace

VerdictReport blank_verdict(const TrialCase& trial, const std::string& device_id) {
  VerdictReport verdict;
  verdict.id = device_id + "/" + trial.id;
  verdict.device = device_id;
  verdict.case_name = trial.id;
  verdict.op = trial.variant.manifest->op;
  verdict.kernel = trial.variant.manifest->id;
  verdict.variant_key = trial.program->variant_key;
  verdict.combination = trial.variant.combination();
  verdict.weight_type = trial.variant.weight_type;
  verdict.constructs = trial.program->constructs;
  return verdict;
}

void judge_end(const Outcome& outcome, VerdictReport& verdict) {
  std::string& note = verdict.evidence.note;
  switch (outcome.kind) {
    case OutcomeKind::kEnded:
      judge_crash(outcome.exit, verdict);
      break;
    case OutcomeKind::kHang:
      verdict.verdict = Verdict::kHang;
      note = fmt::format("not finished after {:.0f} s", outcome.wall_seconds);
      break;
    case OutcomeKind::kMemory:
      verdict.verdict = Verdict::kOutOfMemory;
      note = "stopped: the process used more memory than allowed";
      break;
    case OutcomeKind::kUnreapable:
      verdict.verdict = Verdict::kDeviceLost;
      note = "the process cannot be killed: it hangs in the kernel driver";
      break;
    default:
      call_unreadable(verdict);
  }
}

bool endangers_device(Verdict verdict) {
  return verdict == Verdict::kCrash || verdict == Verdict::kHang ||
         verdict == Verdict::kOutOfMemory || verdict == Verdict::kLaunchError ||
         verdict == Verdict::kLie;
}

void judge_outputs(const TrialCase& trial, const Material& material, int repeats,
                   std::span<const OutputReadings> outputs, VerdictReport& verdict) {
  verdict.verdict = Verdict::kPass;
  verdict.stage = Stage::kExit;
  verdict.repeats = repeats;
  std::vector<std::byte> first;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    if (repeat > 0 && same_as_first(outputs, repeat)) continue;
    Reading reading = read_outputs(trial, material, outputs, repeat);
    const Comparison found = compare(material.reference, reading.values, trial.variant.precision);
    if (repeat == 0 || !found.right) verdict.evidence.error = evidence_of(found);
    if (const std::string fault = fault_of(reading, found); !fault.empty()) {
      reject_reading(repeat == 0 ? Verdict::kWrong : Verdict::kNondeterministic, fault, verdict);
      return;
    }
    if (repeat == 0) {
      first = std::move(reading.bytes);
    } else if (reading.bytes != first) {
      reject_reading(Verdict::kNondeterministic,
                     "two runs on the same data differ, although both are within the bound",
                     verdict);
    }
  }
}

void doubt_times(const DeviceReport& device, VerdictReport& verdict) {
  constexpr double kMostACycle = 4096;
  constexpr int64_t kLeastClock = 1000;
  if (verdict.verdict != Verdict::kPass || !verdict.gflops) return;
  const DeviceFeatures features = features_of(device);
  if (features.compute_units == 0) return;
  const double most = static_cast<double>(features.compute_units) * 1e-3 *
                      static_cast<double>(std::max(features.clock_mhz, kLeastClock)) * kMostACycle;
  if (*verdict.gflops <= most) return;
  verdict.evidence.note = fmt::format(
      "its launches took {:.3g} ms, that is {:.3g} GFLOP/s: more than the device can do, so "
      "the driver skips launches",
      *verdict.median_ms, *verdict.gflops);
  verdict.verdict = Verdict::kLie;
  verdict.median_ms = verdict.spread_ms = verdict.piped_ms = verdict.gflops = std::nullopt;
  verdict.launch_ms = verdict.piped_launch_ms = std::nullopt;
}

Result<VerdictReport> judge(const TrialCase& trial, const Material& material,
                            const PreparedTrial& prepared, const Outcome& outcome,
                            const std::string& device_id) {
  VerdictReport verdict = blank_verdict(trial, device_id);
  Evidence& evidence = verdict.evidence;
  evidence.wall_ms = outcome.wall_seconds * 1e3;
  evidence.cpu_ms = outcome.cpu_seconds * 1e3;
  verdict.stage = outcome.stage.stage.value_or(Stage::kExit);
  evidence.call = outcome.stage.call;
  if (outcome.kind == OutcomeKind::kReply) {
    CLVET_RETURN_IF_ERROR(judge_reply(trial, material, prepared, outcome.reply, verdict));
  } else {
    judge_end(outcome, verdict);
  }
  const bool good = verdict.verdict == Verdict::kPass;
  evidence.stderr_text = good ? std::string() : shorten(outcome.captured, kKeptText);
  return verdict;
}

}  // namespace clvet
