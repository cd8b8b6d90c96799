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
#include "kernels/contract.h"
#include "kernels/layout.h"
#include "probe/cl/handles.h"
#include "runtime/exec/device.h"
#include "runtime/llm/decoder.h"
#include "runtime/llm/decoder_calls.h"
#include "runtime/llm/decoder_memory.h"
#include "runtime/llm/decoder_plan.h"
#include "runtime/llm/llm_config.h"
#include "runtime/llm/weights.h"
#include "runtime/plan/variant_choice.h"

namespace clvet {

class DeviceDecoder : public DecoderBackend {
 public:
  // `device`, `weights` and `config` must outlive it; at most kRowsOfAStep tokens a step.
  static Result<std::unique_ptr<DeviceDecoder>> create(Device& device, const LlmConfig& config,
                                                       const LlmWeights& weights,
                                                       DecoderPlanner planner);

  Result<std::vector<float>> step(std::span<const float> hidden, int64_t rows, int64_t position,
                                  bool answer) override;
  Status reserve(int64_t capacity) override;
  // Of one token.
  int launches() const { return launches_; }
  // Pieces that the head lies in: more than one where it exceeds the device's images.
  size_t head_parts() const { return logits_.size(); }

 private:
  struct Launch {
    ClKernel kernel;
    KernelCall call;
    int position_arg = -1;
  };
  struct Weights {
    ClMem data, scales;
  };
  // Columns of the logits that one call gives.
  struct LogitsPart {
    int64_t columns = 0;
    ClMem data;
  };

  DeviceDecoder(Device& device, const LlmConfig& config, const LlmWeights& weights,
                DecoderPlanner planner)
      : device_(device), config_(config), weights_(weights), planner_(std::move(planner)) {}
  Status allocate();
  Result<const std::vector<Launch>*> launches_for(int64_t rows, bool answer);
  Result<Launch> launch_of(const DecoderCall& call);
  Result<cl_mem> object_of(const DecoderCall& call, const ChosenVariant& chosen,
                           const CallArg& arg);
  Result<const Weights*> matrix(const DecoderCall& call, const ChosenVariant& chosen);
  Result<cl_mem> vector(const std::string& name);
  TensorRole role_of(const std::string& buffer, int64_t rows) const;
  Result<std::vector<float>> read_logits();

  Device& device_;
  const LlmConfig& config_;
  const LlmWeights& weights_;
  DecoderPlanner planner_;
  ProgramGuard guard_;
  std::map<std::string, DecoderBuffer> rows_;  // what each buffer holds of a token or position
  std::map<std::string, ClMem> buffers_, vectors_;
  std::map<int64_t, LogitsPart> logits_;  // by the first column
  std::map<MatrixForm, Weights> matrices_;
  std::map<std::pair<int64_t, bool>, std::vector<Launch>> steps_;  // by rows and answer
  int64_t capacity_ = 0;
  int launches_ = 0;
  Bytes staging_;
};

}  // namespace clvet
