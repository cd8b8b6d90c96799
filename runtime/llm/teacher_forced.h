// Compares a model's choices with those that another program made, token by token, each step going
// on from the other's choice: free-running texts part for ever at the first near-tie.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/event.h"
#include "base/result.h"

namespace clvet {

struct TeacherForcedCase {
  std::vector<int32_t> prompt, chosen;
  std::vector<double> margins;  // of the best logit over the second, a step each
  // The same of an independent float32 run; empty where the file has none.
  std::vector<int32_t> exact;
  std::vector<double> exact_margins;
};

// A step counts where its margin is over these: below, rounding may choose otherwise.
inline constexpr double kMargin = 0.3, kExactMargin = 0.02;

struct TeacherForcedCount {
  int right = 0, of = 0;
  int exact = 0, exact_of = 0;
};

// A golden file: cases[] {prompt_ids, greedy_ids, top1_top2_margin, fp32_teacher_forced_argmax,
// fp32_margin}. kInvalidArgument names the case and the field.
Result<std::vector<TeacherForcedCase>> read_teacher_forced(const std::string& path);

// `restart` forgets all text; `take` gives the logits behind its tokens, which stay until the next
// call.
struct TeacherForcedModel {
  std::function<void()> restart;
  std::function<Result<std::span<const float>>(std::span<const int32_t>)> take;
};
Result<TeacherForcedCount> compare_teacher_forced(const std::vector<TeacherForcedCase>& cases,
                                                  const TeacherForcedModel& model,
                                                  const EventSink& sink);

}  // namespace clvet
