// A language model on an OpenCL device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/call.h"
#include "kernels/combination.h"
#include "kernels/contract.h"
#include "kernels/layout.h"
#include "probe/cl/handles.h"
#include "runtime/exec/device.h"
#include "runtime/exec/step_answer.h"
#include "runtime/exec/tokens_ahead.h"
#include "runtime/llm/decoder.h"
#include "runtime/llm/decoder_calls.h"
#include "runtime/llm/decoder_memory.h"
#include "runtime/llm/host_decoder.h"
#include "runtime/llm/llm_config.h"
#include "runtime/llm/weights.h"
#include "runtime/plan/launch.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/variant_table.h"

namespace clvet {

class DeviceDecoder : public DecoderBackend {
 public:
  // `device`, `weights` and `config` must outlive it; the plan is one of that model
  // (DecoderPlanner::check() says so of one that comes from elsewhere). At most kRowsOfAStep tokens
  // a step.
  static Result<std::unique_ptr<DeviceDecoder>> create(Device& device, const LlmConfig& config,
                                                       const LlmWeights& weights,
                                                       ExecutionPlan plan);

  Result<std::span<const float>> step(std::span<const float> hidden, int64_t rows, int64_t position,
                                      bool answer) override;
  Status reserve(int64_t capacity) override;
  // While it is true, the token behind an answer is expected to be the one with the greatest logit:
  // where the plan has a kernel that chooses it, the device goes on with it at once. What that
  // takes is brought there the first time; after an error all goes on without it.
  Status expect_greedy(bool greedy);
  // Milliseconds that the last answer took from its first launch on.
  double answer_ms() const { return answer_ms_; }
  // Builds what step() of these numbers takes.
  Status prepare(int64_t rows, int64_t position, bool answer);
  // As step(), but each launch is waited for, what it wrote is read, and `host` (of the same model)
  // computes the same from what the device itself had. `checker` sees each pair, in order.
  // The logits are those that were compared; they stay until `host` computes others.
  Result<std::span<const float>> check(std::span<const float> hidden, int64_t rows,
                                       int64_t position, bool answer, HostDecoder& host,
                                       Checker& checker);
  // The launches of one token, in their order, with that which chooses it once greedy tokens were
  // expected; they live as long as the decoder.
  struct Launched {
    std::string node;
    const TableRow* row = nullptr;
  };
  const std::vector<Launched>& launches() const { return launches_; }
  // Pieces that the head lies in: more than one where it exceeds the device's images.
  int head_parts() const;

 private:
  struct ReadyStep {
    Launched launched;
    ClKernel kernel;
    KernelCall call;
    int position_arg = -1;
    int first_arg = -1, count_arg = -1;  // of a call of layers
  };
  struct Weights {
    ClMem data, scales;
  };
  DeviceDecoder(Device& device, const LlmConfig& config, const LlmWeights& weights,
                ExecutionPlan plan)
      : device_(device), config_(config), weights_(weights), plan_(std::move(plan)) {}
  Status allocate();
  const PlanPhase& phase_of(int64_t rows) const;
  std::vector<DecoderCall> calls_of(int64_t rows, bool answer) const;
  Result<const std::vector<ReadyStep>*> steps_for(int64_t rows, bool answer);
  Result<ReadyStep> ready(const PlanStep& step, const Dims& dims);
  Result<cl_mem> object_of(const PlanStep& step, const Launch& launch, const CallArg& arg);
  Result<PackedWeights> packed(const TensorRole& role, Precision precision,
                               const MatrixForm& form) const;
  Result<const Weights*> matrix(const ConstantRecipe& recipe, const Launch& launch,
                                const CallArg& arg);
  Result<Weights> matrices_together(const TensorRole& role, Precision precision,
                                    const MatrixForm& form);
  Result<ClMem> upload(const PackedWeights& bytes, const MatrixForm& form, Precision precision);
  Result<cl_mem> vector(const std::string& name);
  Result<std::span<const float>> read_logits();
  Status make_ahead();
  Status launch_ahead(int64_t position);
  Result<std::span<const float>> step_ahead(std::span<const float> hidden, int64_t position);
  Status forget_ahead();
  Status take_hidden(std::span<const float> hidden, int64_t rows);
  Status launch(const ReadyStep& ready, int64_t position);
  struct Compared;
  Status copy_to_host(HostDecoder& host, int64_t positions);
  Status compare_output(const Compared& step, size_t tensor, int64_t first_row,
                        const std::string& residual);
  Status check_layer(const Compared& step, const PlanStep& planned, int64_t layer);
  Status check_call(const Compared& step, const PlanStep& planned);
  Result<std::vector<float>> values_of(size_t tensor, int64_t rows);

  Device& device_;
  const LlmConfig& config_;
  const LlmWeights& weights_;
  ExecutionPlan plan_;
  std::shared_ptr<const VariantTable> table_;
  std::vector<ClMem> tensors_;  // of the plan
  ClMem state_;                 // what launches of decoder_layers share
  std::map<std::string, ClMem> vectors_;
  std::map<MatrixForm, Weights> matrices_;
  std::map<std::pair<int64_t, bool>, std::vector<ReadyStep>> steps_;  // by rows and answer
  std::vector<Launched> launches_;
  int64_t capacity_ = 0;
  Bytes staging_;
  std::vector<float> logits_;
  std::unique_ptr<TokensAhead> ahead_;  // null: never expected, or the plan has none
  bool greedy_ = false;
  double answer_ms_ = 0;
};

}  // namespace clvet
