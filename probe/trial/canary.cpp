#include "probe/trial/canary.h"

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/hash.h"
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

}  // namespace

Result<PreparedTrial> prepare_canary() {
  PreparedTrial canary;
  CLVET_ASSIGN_OR_RETURN(std::string text, kernel_text("checks/canary.cl"));
  TrialRequest& request = canary.request;
  request.program.sources = {std::move(text)};
  request.program.entry = "clvet_canary";
  request.program.key = sha256_hex(request.program.sources[0]);
  request.repeats = 1;
  request.global[0] = kCount;
  const std::vector<int32_t> input = canary_input();
  const auto bytes = std::as_bytes(std::span(input));
  MemoryRequest in, out;
  in.bytes = out.bytes = bytes.size();
  in.fd = 0;
  out.fd = 1;
  out.use = MemoryUse::kOut;
  request.memory = {in, out};
  request.args.resize(2);
  request.args[0].memory = 0;
  request.args[1].memory = 1;
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
    report.evidence = fmt::format("signal {}, status {} in {}", outcome.exit.signal,
                                  outcome.exit.exit_status, outcome.stage.call);
    return report;
  }
  if (outcome.reply.contains("verdict")) {
    report.verdict = CapabilityVerdict::kFalse;
    report.evidence = text_in(outcome.reply, "call") + ": " + text_in(outcome.reply, "note");
    return report;
  }
  const auto mapping = Mapping::of(canary.fds[1].get(), sizeof(int32_t) * kCount, false);
  bool right = mapping.has_value();
  const std::vector<int32_t> input = canary_input();
  for (size_t i = 0; right && i < input.size(); ++i) {
    int32_t value = 0;
    std::memcpy(&value, mapping->bytes().data() + i * sizeof value, sizeof value);
    right = value == input[i] * 3 + 1;
  }
  report.verdict = right ? CapabilityVerdict::kTrue : CapabilityVerdict::kWrong;
  if (!right) report.evidence = "the kernel ran, and its output is wrong";
  return report;
}

std::vector<int> raw_fds(const PreparedTrial& prepared) {
  std::vector<int> fds;
  for (const UniqueFd& fd : prepared.fds) fds.push_back(fd.get());
  return fds;
}

}  // namespace clvet
