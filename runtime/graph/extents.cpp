#include "runtime/graph/extents.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/text.h"
#include "base/whole_number.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"

namespace clvet {
namespace {

const Value& input_at(const Graph& graph, ValueId id) {
  return graph.values[static_cast<size_t>(id)];
}

std::string trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(" ()");
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(" ()") - first + 1);
}

}  // namespace

Result<NamedExtents> NamedExtents::of(const Graph& graph,
                                      const std::map<std::string, Shape>& shapes) {
  NamedExtents extents;
  std::map<std::string, std::string> owners;
  for (const ValueId id : graph.inputs) {
    const Value& input = input_at(graph, id);
    const auto given = shapes.find(input.name);
    const auto shape = given == shapes.end() ? input.shape : std::optional(given->second);
    for (size_t i = 0; shape && i < shape->size(); ++i) {
      const int64_t own = (*shape)[i];
      const std::string name = input.extent_name(i);
      if (name.empty() || own < 0) continue;
      const auto [row, added] = extents.values_.emplace(name, own);
      if (added) owners[name] = input.name;
      if (row->second == own) continue;
      return fail(
          ErrorCode::kInvalidArgument,
          "the model calls an extent of input '{}' and one of input '{}' both '{}', but they "
          "are {} and {}; give them the same",
          owners[name], input.name, name, row->second, own);
    }
  }
  return extents;
}

std::optional<int64_t> NamedExtents::value(const std::string& name) const {
  if (const auto found = values_.find(name); found != values_.end()) return found->second;
  if (name.find('+') == std::string::npos) return std::nullopt;
  int64_t sum = 0;
  for (const std::string& part : split(name, '+')) {
    const std::string word = trimmed(part);
    const auto found = values_.find(word);
    const auto number = found == values_.end() ? whole_number(word) : found->second;
    if (!number || __builtin_add_overflow(sum, *number, &sum)) return std::nullopt;
  }
  return sum < 0 ? std::nullopt : std::optional(sum);
}

Shape NamedExtents::filled(const Value& input, Shape shape) const {
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] < 0) shape[i] = value(input.extent_name(i)).value_or(-1);
  }
  return shape;
}

std::map<std::string, Shape> take_extents(Graph& graph, std::map<std::string, Shape> shapes) {
  NamedExtents extents;
  for (auto row = shapes.begin(); row != shapes.end();) {
    const std::string& name = row->first;
    const auto calls_so = [&](ValueId id) { return input_at(graph, id).name == name; };
    const auto has = [&](ValueId id) {
      return std::ranges::find(input_at(graph, id).extent_names, name) !=
             input_at(graph, id).extent_names.end();
    };
    const bool is_extent = row->second.size() == 1 &&
                           std::ranges::none_of(graph.inputs, calls_so) &&
                           std::ranges::any_of(graph.inputs, has);
    if (is_extent) extents.set(name, row->second[0]);
    row = is_extent ? shapes.erase(row) : std::next(row);
  }
  for (const ValueId id : graph.inputs) {
    Value& input = graph.values[static_cast<size_t>(id)];
    if (input.shape) input.shape = extents.filled(input, *input.shape);
  }
  return shapes;
}

}  // namespace clvet
