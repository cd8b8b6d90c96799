// The tensors of a session as its user sees them: who has mapped which, and what they hold.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
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
    bool is_lent = false;     // the values lie in its user's memory
    bool is_shared = false;   // the values lie where the device reads them
    int readers = 0;
    uint64_t generation = 0;  // one more whenever its mappings end
    ::clvet::Tensor values;
  };
  struct Mapped {
    TensorInfo info;
    ::clvet::Tensor values;   // shares the slot's storage
    uint64_t generation = 0;  // of the slot
  };

  // Gives the memory from which the device reads an input, or nothing; called while no run is in
  // flight.
  using Lend = std::function<std::optional<::clvet::Tensor>(const std::string& name)>;

  // Shapes as the model declares them.
  Slots(std::vector<TensorInfo> inputs, std::vector<TensorInfo> outputs, Lend lend);

  std::vector<TensorInfo> infos(bool inputs) const;
  // One more after each resize().
  uint64_t generation() const;
  // Whether mappings of that generation of the tensor are still good.
  bool is_current(const std::string& name, uint64_t generation) const;

  Status resize(const std::map<std::string, Shape>& shapes);
  Status set(const std::map<std::string, Values>& values);
  Result<Mapped> map(const std::string& name, Access access);
  Status unmap(const std::string& name, Access access, uint64_t generation);

  // The values to run with; nothing is mapped, set or resized until end_run(). `with_zeros`: zeros
  // stand in for inputs that have no values.
  Result<std::map<std::string, ::clvet::Tensor>> begin_run(bool with_zeros);
  void end_run();
  Status set_outputs(const std::map<std::string, ::clvet::Tensor>& outputs, bool has_values);

 private:
  Slot* find(const std::string& name);
  const Slot* find(const std::string& name) const;
  std::string names(bool inputs) const;
  Status check_shape(const Slot& slot, const Shape& shape) const;
  Result<Slot*> find_input(const std::string& name);
  const TensorInfo& declared(const Slot& slot) const;
  Status check_values(const Slot& slot, const Values& values) const;
  void end_mappings(Slot& slot);
  // Memory that somebody may write while the tensor is looked at.
  bool lies_in_an_input(const ::clvet::Tensor& tensor) const;
  Result<::clvet::Tensor> values_of(const Slot& slot, bool with_zeros) const;
  Status prepare_writing(Slot& slot) const;
  Status check_free(const char* what) const;

  const Lend lend_;
  mutable std::mutex mutex_;
  std::vector<TensorInfo> declared_;  // by slot
  std::vector<Slot> slots_;           // inputs, then outputs
  bool running_ = false;
  uint64_t generation_ = 0;
};

}  // namespace clvet::v1
