#include "probe/trial/opening.h"

#include <cstddef>
#include <string>

#include "base/text.h"
#include "probe/cl/api.h"
#include "probe/process/stage_page.h"
#include "probe/report/report.h"
#include "probe/trial/judge.h"
#include "probe/worker/protocol.h"
#include "probe/worker/supervisor.h"

namespace clvet {
namespace {

constexpr size_t kKeptText = 4 << 10;

// A worker that lives, and says why it opened nothing.
bool is_refusal(const Outcome& outcome) {
  return outcome.kind == OutcomeKind::kReply &&
         (outcome.reply.contains("lie") || outcome.reply.contains("reason") ||
          number_in(outcome.reply, "cl_error") != 0);
}

void judge_refusal(const nlohmann::json& reply, VerdictReport& failure) {
  Evidence& evidence = failure.evidence;
  failure.verdict = reply.contains("lie") ? Verdict::kLie : Verdict::kLaunchError;
  failure.stage = Stage::kContext;
  evidence.call = text_in(reply, "call");
  evidence.cl_error = static_cast<int>(number_in(reply, "cl_error"));
  evidence.note = text_in(reply, "lie") + text_in(reply, "reason");
  if (evidence.note.empty()) evidence.note = cl_error_name(evidence.cl_error);
}

void judge_end_of_opening(const Outcome& outcome, VerdictReport& failure) {
  failure.stage = outcome.stage.stage.value_or(Stage::kContext);
  failure.evidence.call = outcome.stage.call;
  judge_end(outcome, failure);
}

}  // namespace

bool shows_open_device(const Outcome& outcome) {
  return outcome.kind == OutcomeKind::kReply && !outcome.reply.contains("lie") &&
         number_in(outcome.reply, "cl_error", -1) == 0;
}

VerdictReport opening_failure(const Outcome& outcome) {
  VerdictReport failure;
  if (is_refusal(outcome)) {
    judge_refusal(outcome.reply, failure);
  } else {
    judge_end_of_opening(outcome, failure);
  }
  Evidence& evidence = failure.evidence;
  evidence.stderr_text = shorten(outcome.captured, kKeptText);
  // A lie names the call itself.
  if (!evidence.call.empty() && failure.verdict != Verdict::kLie)
    evidence.note = evidence.call + ": " + evidence.note;
  evidence.note = fmt::format("the device could not be opened: {}", evidence.note);
  return failure;
}

}  // namespace clvet
