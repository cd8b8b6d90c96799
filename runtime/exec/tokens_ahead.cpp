#include "runtime/exec/tokens_ahead.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "kernels/call.h"
#include "kernels/contract.h"
#include "probe/cl/handles.h"
#include "runtime/exec/device.h"
#include "runtime/llm/llm_config.h"
#include "runtime/llm/next_token.h"
#include "runtime/llm/weights.h"
#include "runtime/plan/variant_table.h"

namespace clvet {
namespace {

// Rows of embeddings that the host makes at once: so many begin at multiples of kPartAlign bytes
// (decoder_memory.h).
constexpr int64_t kRowsTogether = 512;

}  // namespace

std::span<const float> TokensAhead::Slot::floats() const {
  const std::span<const std::byte> bytes = memory.bytes();
  return {reinterpret_cast<const float*>(bytes.data()), bytes.size() / sizeof(float)};
}

Result<std::unique_ptr<TokensAhead>> TokensAhead::create(Device& device, const LlmConfig& config,
                                                         const LlmWeights& weights,
                                                         const TableRow& row, cl_mem logits,
                                                         cl_mem hidden) {
  std::unique_ptr<TokensAhead> made(new TokensAhead(device, config, row));
  CLVET_ASSIGN_OR_RETURN(made->call_, make_call(row.variant, next_token_dims(config), {}));
  CLVET_ASSIGN_OR_RETURN(made->kernel_, device.kernel(row));
  CLVET_RETURN_IF_ERROR(made->fill_table(weights));
  const size_t bytes = static_cast<size_t>(config.vocab + config.width) * sizeof(float);
  for (Slot& slot : made->slots_) {
    CLVET_ASSIGN_OR_RETURN(slot.said, device.buffer(bytes));
    slot.memory = device.host_memory(bytes);
  }
  const auto object_of = [&](const CallArg& arg) -> Result<cl_mem> {
    if (arg.name == "x") return logits;
    if (arg.name == "table") return made->table_.get();
    return arg.name == "y" ? hidden : made->slots_.front().said.get();
  };
  CLVET_RETURN_IF_ERROR(set_args(device, made->kernel_.get(), made->call_, object_of));
  const auto said = std::ranges::find(made->call_.args, "said", &CallArg::name);
  made->said_arg_ = static_cast<size_t>(said - made->call_.args.begin());
  return made;
}

Status TokensAhead::fill_table(const LlmWeights& weights) {
  const size_t row_bytes = static_cast<size_t>(config_.width) * sizeof(float);
  CLVET_ASSIGN_OR_RETURN(table_, device_.buffer(static_cast<size_t>(config_.vocab) * row_bytes));
  for (int64_t first = 0; first < config_.vocab; first += kRowsTogether) {
    std::vector<int32_t> ids(static_cast<size_t>(std::min(kRowsTogether, config_.vocab - first)));
    std::iota(ids.begin(), ids.end(), static_cast<int32_t>(first));
    CLVET_ASSIGN_OR_RETURN(const std::vector<float> rows, weights.embeddings(ids));
    const auto bytes = std::as_bytes(std::span(rows));
    CLVET_ASSIGN_OR_RETURN(
        const ClMem part,
        device_.part(table_.get(), static_cast<size_t>(first) * row_bytes, bytes.size()));
    CLVET_RETURN_IF_ERROR(device_.write(part.get(), bytes));
  }
  return {};
}

TokensAhead::~TokensAhead() { (void)forget(); }

Status TokensAhead::ask(int64_t position) {
  Slot& slot = slots_[next_slot_];
  CLVET_RETURN_IF_ERROR(set_arg(device_, kernel_.get(), said_arg_, slot.said.get()));
  ClEvent chosen;
  const double now = monotonic_seconds();
  CLVET_RETURN_IF_ERROR(device_.enqueue(*row_, kernel_.get(), call_, &chosen));
  CLVET_ASSIGN_OR_RETURN(ClEvent read,
                         device_.read_beside(slot.said.get(), slot.memory.bytes(), chosen));
  asked_.push_back({position, next_slot_, std::move(read), now});
  next_slot_ = (next_slot_ + 1) % kMost;
  return {};
}

bool TokensAhead::guessed(int64_t position, std::span<const float> hidden) const {
  return asked_.size() == 1 && asked_.front().position == position &&
         guess_.size() == hidden.size() &&
         std::memcmp(guess_.data(), hidden.data(), hidden.size_bytes()) == 0;
}

Result<std::span<const float>> TokensAhead::take() {
  const Asked asked = std::move(asked_.front());
  asked_.pop_front();
  guess_ = {};
  CLVET_RETURN_IF_ERROR(device_.wait_for(asked.read));
  last_ms_ = ms_since(asked.at);
  const std::span<const float> said = slots_[asked.slot].floats();
  const auto vocab = static_cast<size_t>(config_.vocab);
  guess_ = said.subspan(vocab, static_cast<size_t>(config_.width));
  return said.first(vocab);
}

Status TokensAhead::forget() {
  guess_ = {};
  Status first;
  for (; !asked_.empty(); asked_.pop_front()) {
    Status read = device_.wait_for(asked_.front().read);
    if (first) first = std::move(read);
  }
  return first;
}

}  // namespace clvet
