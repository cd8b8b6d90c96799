// Extents that a model leaves open and names: one name has one value in all inputs, and a sum like
// "past + 1" that of its parts.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"

namespace clvet {

class NamedExtents {
 public:
  // Those of the graph's inputs whose extents are known there or in `shapes`, by input.
  // kInvalidArgument: two inputs say different things of one name.
  static Result<NamedExtents> of(const Graph& graph, const std::map<std::string, Shape>& shapes);

  // Of a name or a sum; nothing where it, or a part of it, is not known.
  std::optional<int64_t> value(const std::string& name) const;
  // Sets what is not known yet.
  void set(const std::string& name, int64_t value) { values_.emplace(name, value); }
  // The shape with each open extent that is known by name.
  Shape filled(const Value& input, Shape shape) const;

 private:
  std::map<std::string, int64_t> values_;
};

// Of `shapes`, those rows that are called like an extent and not like an input, of one number each,
// are set in the inputs of the graph; gives the others.
std::map<std::string, Shape> take_extents(Graph& graph, std::map<std::string, Shape> shapes);

}  // namespace clvet
