// Weights that a model keeps in files beside it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/hash.h"
#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/onnx/onnx.pb.h"

namespace clvet {

// Opens each file once. A file counts where it lies in the folder of the model, or, as what a link
// leads to, in that of the file that the model itself is.
class ExternalData {
 public:
  // Of a model that is no file: there is none.
  ExternalData() = default;
  explicit ExternalData(const std::string& model);

  // What is read from now on is added to this hash, too.
  void add_to(Sha256& hash) { hash_ = &hash; }
  bool was_read() const { return !files_.empty(); }

  // Fills the tensor, of the proto's type and shape, from where the proto says. kInvalidArgument
  // names the file and its fault.
  Status read(const onnx::TensorProto& proto, Tensor& tensor);

 private:
  struct File {
    UniqueFd fd;
    int64_t bytes = 0;
  };
  Result<const File*> open(const std::string& location);

  std::vector<std::string> folders_;  // without links; empty: no file is to be read
  std::string folder_;                // as the model's path has it
  std::map<std::string, File> files_;
  Sha256* hash_ = nullptr;
};

}  // namespace clvet
