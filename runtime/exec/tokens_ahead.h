// The token behind a step, chosen by the device itself (op next_token), so that it can go on while
// the host still looks at the step's answer.
//
// Behind each step the device writes its logits, and the embedding that it chose by them, where the
// host reads both while the next step runs. The next step is worth something only if the host wants
// the same embedding, bit by bit: so nothing depends on whether the device chose right.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>

#include "base/result.h"
#include "kernels/call.h"
#include "probe/cl/handles.h"
#include "runtime/exec/device.h"
#include "runtime/llm/llm_config.h"
#include "runtime/llm/weights.h"
#include "runtime/plan/variant_table.h"

namespace clvet {

class TokensAhead {
 public:
  // `logits`: where the head writes, one row of floats; `hidden`: where embeddings go. All
  // references must outlive it.
  static Result<std::unique_ptr<TokensAhead>> create(Device& device, const LlmConfig& config,
                                                     const LlmWeights& weights, const TableRow& row,
                                                     cl_mem logits, cl_mem hidden);
  ~TokensAhead();

  // Behind the launches of the step of `position`: at most kMost that take() or forget() has not
  // ended.
  Status ask(int64_t position);
  // Whether the only step asked for is that of `position`, with the embedding `hidden`, which
  // take() gave.
  bool guessed(int64_t position, std::span<const float> hidden) const;
  // Waits for the step that was asked for first, and gives its logits: until two more are asked
  // for.
  Result<std::span<const float>> take();
  // Waits until the device is through with all of them.
  Status forget();
  bool busy() const { return !asked_.empty(); }
  // Milliseconds from ask() to the end of take(), of the last one.
  double last_ms() const { return last_ms_; }

 private:
  static constexpr size_t kMost = 2;
  struct Asked {
    int64_t position = 0;
    size_t slot = 0;
    ClEvent read;
    double at = 0;
  };
  struct Slot {
    ClMem said;
    Device::HostMemory memory;
    std::span<const float> floats() const;
  };
  TokensAhead(Device& device, const LlmConfig& config, const TableRow& row)
      : device_(device), config_(config), row_(&row) {}
  Status fill_table(const LlmWeights& weights);

  Device& device_;
  const LlmConfig& config_;
  const TableRow* row_;
  ClKernel kernel_;
  KernelCall call_;
  size_t said_arg_ = 0;
  ClMem table_;
  std::array<Slot, kMost> slots_;
  std::deque<Asked> asked_;
  size_t next_slot_ = 0;
  std::span<const float> guess_;  // behind the step that was taken last
  double last_ms_ = 0;
};

}  // namespace clvet
