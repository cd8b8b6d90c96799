// The tensors of a session as its user sees them: who has mapped which, and what they hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "clvet/result.h"
#include "clvet/tensor.h"
#include "runtime/graph/tensor.h"

namespace clvet::v1 {

class Slots {
 public:
  struct Slot {
    TensorInfo info;
    bool is_input = false;
    bool has_values = false;
    bool is_written = false;  // somebody has it mapped for writing
    int readers = 0;
    ::clvet::Tensor values;
  };
  struct Mapped {
    TensorInfo info;
    ::clvet::Tensor values;  // shares the slot's storage
    uint64_t generation = 0;
  };

  // Shapes as the model declares them.
  Slots(std::vector<TensorInfo> inputs, std::vector<TensorInfo> outputs);

  std::vector<TensorInfo> infos(bool inputs) const;
  uint64_t generation() const;

  Status resize(const std::map<std::string, Shape>& shapes);
  Result<Mapped> map(const std::string& name, Access access);
  Status unmap(const std::string& name, Access access, uint64_t generation);

  // The values to run with; nothing is mapped for writing or resized until end_run().
  Result<std::map<std::string, ::clvet::Tensor>> begin_run();
  // Zeros stand in for inputs that have no values.
  Result<std::map<std::string, ::clvet::Tensor>> begin_warm_up();
  void end_run();
  void set_outputs(const std::map<std::string, ::clvet::Tensor>& outputs, bool has_values);

 private:
  Slot* find(const std::string& name);
  std::string names(bool inputs) const;
  Status check_shape(const Slot& slot, const TensorInfo& declared, const Shape& shape) const;
  Result<std::map<std::string, ::clvet::Tensor>> take(bool with_zeros);
  Status check_free(const char* what) const;

  mutable std::mutex mutex_;
  std::vector<TensorInfo> declared_;  // by slot
  std::vector<Slot> slots_;           // inputs, then outputs
  bool running_ = false;
  uint64_t generation_ = 0;
};

}  // namespace clvet::v1
