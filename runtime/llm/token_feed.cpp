#include "runtime/llm/token_feed.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/result.h"

namespace clvet {

Result<std::span<const float>> TokenFeed::take(std::span<const int32_t> tokens,
                                               const std::function<void(size_t)>& progress) {
  const auto count = static_cast<int64_t>(tokens.size());
  if (count == 0) return fail(ErrorCode::kInvalidArgument, "the prompt is empty");
  if (count > config_.context - position_) {
    return fail(ErrorCode::kResourceExhausted,
                "{} tokens and {} more exceed the model's context of {} tokens", position_, count,
                config_.context);
  }
  std::span<const float> logits;
  for (int64_t done = 0; done < count;) {
    if (cancelled_ && cancelled_->load(std::memory_order_relaxed))
      return fail(ErrorCode::kCancelled, "it was cancelled");
    // The last token comes alone: it alone is answered.
    const bool last = done == count - 1;
    const int64_t rows = last ? 1 : std::min(rows_, count - 1 - done);
    const auto part = tokens.subspan(static_cast<size_t>(done), static_cast<size_t>(rows));
    CLVET_ASSIGN_OR_RETURN(const std::vector<float> hidden, weights_.embeddings(part));
    CLVET_ASSIGN_OR_RETURN(logits, backend_.step(hidden, rows, position_, last));
    position_ += rows;
    done += rows;
    if (progress) progress(static_cast<size_t>(done));
  }
  return logits;
}

}  // namespace clvet
