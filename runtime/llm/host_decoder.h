// A language model on the CPU, in float32.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/llm/decoder.h"
#include "runtime/llm/decoder_calls.h"
#include "runtime/llm/llm_config.h"
#include "runtime/llm/weights.h"

namespace clvet {

// Buffers of a model (decoder_buffers) by name, the rows of each one after the other.
using HostBuffers = std::map<std::string, std::vector<float>>;

class HostDecoder : public DecoderBackend {
 public:
  // Both must outlive it; at most `rows` tokens a step. Quantised matrices stay so.
  static Result<std::unique_ptr<HostDecoder>> create(const LlmConfig& config,
                                                     const LlmWeights& weights, int64_t rows);
  // One for single calls of another decoder's steps. Without `keeps_matrices` it needs no memory to
  // speak of, but unpacks each matrix whenever it is used.
  static Result<std::unique_ptr<HostDecoder>> witness(const LlmConfig& config,
                                                      const LlmWeights& weights, int64_t rows,
                                                      bool keeps_matrices);

  Result<std::span<const float>> step(std::span<const float> hidden, int64_t rows, int64_t position,
                                      bool answer) override;
  Status reserve(int64_t capacity) override;

  // One call of a step, on buffers that put() may fill: what another decoder's call should leave.
  Status run(const DecoderCall& call, int64_t rows, int64_t position);
  // A buffer (decoder_buffers) by name, its rows one after the other.
  const std::vector<float>& buffer(const std::string& name) const { return buffers_.at(name); }
  // Replaces the values from element `first` on.
  void put(const std::string& name, int64_t first, std::span<const float> values);

  // A second text with the same matrices: buffers as large as its own are now, and zero. Calls
  // work on those that it was given last; reserve() makes only these larger.
  HostBuffers more_buffers() const;
  void exchange(HostBuffers& buffers) { buffers_.swap(buffers); }
  // Calls read `values` in place of a vector of the model from now on.
  Status exchange(const std::string& vector, std::vector<float>& values);
  // How a norm holds the sum of its squares: nothing, if not as it is.
  using HeldSum = std::function<double(double)>;
  void hold_squares(HeldSum held) { held_ = std::move(held); }

 private:
  HostDecoder(const LlmConfig& config, const LlmWeights& weights)
      : config_(config), weights_(weights) {}
  const std::vector<float>& read(const DecoderCall& call, const char* role) const;
  float* write(const DecoderCall& call, const char* role);
  void rms_norm(const DecoderCall& call);
  void product(const DecoderCall& call, int64_t rows);
  void rope(const DecoderCall& call, int64_t position);
  void attention(const DecoderCall& call, int64_t position);
  void gate(const DecoderCall& call);
  void add(const DecoderCall& call);
  Status fetch(const DecoderCall& call);

  const LlmConfig& config_;
  const LlmWeights& weights_;
  HostBuffers buffers_;
  std::map<std::string, std::vector<float>> vectors_;
  std::map<std::string, WeightMatrix> matrices_;  // the quants of int4 as pack_nibbles() has them
  int64_t capacity_ = 0;
  bool keeps_matrices_ = true;
  HeldSum held_;
};

}  // namespace clvet
