// What a node's attribute holds. Compiled once: a variant of this many types costs each source
// that copies one half a second.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/graph/tensor.h"

namespace clvet {

struct Graph;

// One of ONNX's kinds of value. It never changes; copies share it.
class Attribute {
 public:
  Attribute();  // 0
  Attribute(int64_t value);
  Attribute(double value);
  Attribute(std::string value);
  Attribute(std::vector<int64_t> values);
  Attribute(std::vector<double> values);
  Attribute(std::vector<std::string> values);
  Attribute(Tensor value);
  Attribute(std::shared_ptr<const Graph> value);
  Attribute(const Attribute&);
  Attribute& operator=(const Attribute&);
  ~Attribute();

  // As op definitions name kinds: i, f, s, and in capitals lists of them; t: tensor, g: graph.
  char kind() const;
  // T: a type of the constructors. nullptr where the attribute is of another kind.
  template <class T>
  const T* get_if() const;

 private:
  struct Data;
  std::shared_ptr<const Data> data_;
};

using Attributes = std::map<std::string, Attribute, std::less<>>;

}  // namespace clvet

extern template class std::map<std::string, clvet::Attribute, std::less<>>;
