#include "probe/trial/canary.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "kernels/catalog.h"
#include "probe/report/report.h"
#include "probe/trial/material.h"
#include "probe/trial/request.h"
#include "probe/worker/protocol.h"
#include "probe/worker/supervisor.h"

namespace clvet {
namespace {

constexpr int32_t kCount = 256;

std::vector<int32_t> canary_input() {
  std::vector<int32_t> values(kCount);
  for (int32_t i = 0; i < kCount; ++i) values[static_cast<size_t>(i)] = i * 7 - 300;
  return values;
}

// One buffer in, one out.
void add_buffers(uint64_t bytes, TrialRequest& request) {
  MemoryRequest in, out;
  in.bytes = out.bytes = bytes;
  in.fd = 0;
  out.fd = 1;
  out.use = MemoryUse::kOut;
  request.memory = {in, out};
  request.args.resize(2);
  request.args[0].memory = 0;
  request.args[1].memory = 1;
}

bool output_is_right(const PreparedTrial& canary) {
  const auto mapping = Mapping::of(canary.fds[1].get(), sizeof(int32_t) * kCount, false);
  if (!mapping) return false;
  std::vector<int32_t> output(kCount);
  std::memcpy(output.data(), mapping->bytes().data(), sizeof(int32_t) * kCount);
  const std::vector<int32_t> input = canary_input();
  return std::equal(input.begin(), input.end(), output.begin(),
                    [](int32_t given, int32_t found) { return found == canary_result(given); });
}

}  // namespace

Result<PreparedTrial> prepare_canary() {
  PreparedTrial canary;
  TrialRequest& request = canary.request;
  CLVET_ASSIGN_OR_RETURN(request.program, check_program("canary", "clvet_canary"));
  request.repeats = 1;
  request.global[0] = kCount;
  const std::vector<int32_t> input = canary_input();
  const auto bytes = std::as_bytes(std::span(input));
  add_buffers(bytes.size(), request);
  canary.outputs = {1};
  CLVET_ASSIGN_OR_RETURN(UniqueFd in_fd, make_sealed_memfd("clvet-canary", bytes));
  CLVET_ASSIGN_OR_RETURN(UniqueFd out_fd, make_memfd("clvet-canary", bytes.size()));
  canary.fds.push_back(std::move(in_fd));
  canary.fds.push_back(std::move(out_fd));
  return canary;
}

CapabilityReport judge_canary(const PreparedTrial& canary, const Outcome& outcome) {
  CapabilityReport report;
  report.claimed = true;
  if (outcome.kind == OutcomeKind::kHang || outcome.kind == OutcomeKind::kUnreapable) {
    report.verdict = CapabilityVerdict::kHang;
    report.evidence = outcome.stage.call;
    return report;
  }
  if (outcome.kind != OutcomeKind::kReply) {
    report.verdict = CapabilityVerdict::kCrash;
    report.evidence =
        fmt::format("the process ended in {} (signal {}, status {})", outcome.stage.call,
                    outcome.exit.signal, outcome.exit.exit_status);
    return report;
  }
  if (outcome.reply.contains("verdict")) {
    report.verdict = CapabilityVerdict::kFalse;
    report.evidence = text_in(outcome.reply, "call") + ": " + text_in(outcome.reply, "note");
    return report;
  }
  const bool right = output_is_right(canary);
  report.verdict = right ? CapabilityVerdict::kTrue : CapabilityVerdict::kWrong;
  if (!right) report.evidence = "the kernel ran, but its output is wrong";
  return report;
}

std::vector<int> raw_fds(const PreparedTrial& prepared) {
  std::vector<int> fds;
  for (const UniqueFd& fd : prepared.fds) fds.push_back(fd.get());
  return fds;
}

}  // namespace clvet
