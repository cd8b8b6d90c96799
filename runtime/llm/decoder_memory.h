// What a language model takes of a device's memory, known before any of it is allocated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "kernels/catalog.h"
#include "kernels/combination.h"
#include "kernels/contract.h"
#include "probe/report/device_features.h"
#include "runtime/llm/decoder_calls.h"
#include "runtime/llm/llm_config.h"
#include "runtime/llm/weights.h"

namespace clvet {

// Tokens that a step takes at most.
inline constexpr int64_t kRowsOfAStep = 64;

// Positions that the caches of a text have room for: at first, and where those of `capacity` are
// full. Doubled, so that copies are few, and no further than the model can use.
int64_t first_capacity(int64_t rows);
int64_t next_capacity(int64_t capacity, const LlmConfig& config);
// Those of a device, for so many at least: rows of 64 bytes and their multiples then fill parts of
// kPartAlign bytes.
int64_t device_capacity(int64_t positions);

// A matrix, or some of its rows, as a kernel wants it on a device; kernels that want it alike share
// it.
struct MatrixForm {
  std::string matrix;
  int64_t first = 0;  // of its rows
  WeightType type = WeightType::kFloat;
  Storage storage = Storage::kBuffer;
  int64_t pack = 0;
  bool halves = false;
  auto operator<=>(const MatrixForm&) const = default;
};
MatrixForm form_of(const std::string& matrix, int64_t first, const Variant& variant);
inline MatrixForm form_of(const DecoderCall& call, const Variant& variant) {
  return form_of(call.matrix(), call.first, variant);
}
// Of one layer's, where the call is of all; `matrix` is one of its matrices().
TensorRole matrix_role(const DecoderCall& call, const std::string& matrix);
// The matrices that lie behind the name: those of the layers, or itself.
std::vector<std::string> each_of(const std::string& matrix, int64_t layers);
// What the launches of a call share (TensorKind::kState); 0: nothing.
size_t state_bytes(std::span<const TensorRole> roles);
// Parts of a buffer that are buffers of their own begin at multiples of so many bytes on any
// device.
inline constexpr size_t kPartAlign = 512;
// Whether what a call of all layers reads and writes has room in one buffer each, of which a
// layer's is a part, with caches of as many positions. True of any other call.
bool lie_together(const DecoderCall& call, const Variant& variant, const DeviceFeatures& limits,
                  int64_t positions);
// A buffer for steps of `rows` tokens, or a cache for texts of as many positions.
TensorRole buffer_role(const DecoderBuffer& buffer, int64_t rows);
TensorRole logits_role(int64_t columns);

// A call and the kernel that runs it.
struct PlannedCall {
  const DecoderCall* call = nullptr;
  const Variant* variant = nullptr;
};

class DecoderMemory {
 public:
  DecoderMemory() = default;
  // `calls` are those of an answer and of a prompt.
  static Result<DecoderMemory> of(std::span<const PlannedCall> calls, const LlmConfig& config,
                                  const LlmWeights& weights, Precision activations);

  // One allocation.
  struct Piece {
    std::string name;
    int64_t bytes = 0;
  };
  int64_t weight_bytes() const;  // matrices with their scales, vectors
  int64_t cache_bytes(int64_t capacity) const;
  int64_t bytes(int64_t capacity) const;  // all there is
  Piece largest(int64_t capacity) const;
  // Why a text of `capacity` positions has no room within a device's limits; empty: it has.
  std::string misfit(const DeviceFeatures& limits, int64_t capacity) const;

 private:
  struct Row {
    std::string name;
    int64_t bytes = 0, bytes_a_position = 0;
    int64_t of_positions(int64_t capacity) const {
      return bytes_a_position * device_capacity(capacity);
    }
  };
  static Row buffer_row(const std::string& name, size_t bytes);
  void add_buffer(const DecoderBuffer& buffer, Precision activations);
  void add_joint(const DecoderBuffer& of_first, int64_t layers, Precision activations);
  Status add_vectors(const DecoderCall& call, const Variant& variant, const LlmWeights& weights,
                     std::set<std::string>& known);
  void add_matrix(const TensorRole& role, const MatrixForm& form, Precision precision);

  std::vector<Row> weights_, steps_, caches_;
};

}  // namespace clvet
