#include "runtime/precision/file_nodes.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "runtime/graph/graph.h"
#include "runtime/precision/engine_advice.h"

namespace clvet {
namespace {

class Finder {
 public:
  Finder(const Graph& file, const Graph& prepared)
      : file_(file), prepared_(prepared), links_(file) {
    for (const Value& value : prepared.values) kept_.insert(value.name);
    for (const Value& value : prepared.values)
      if (value.constant) folded_.insert(value.name);
    for (const Node& node : file.nodes)
      varies_.push_back(std::any_of(node.inputs.begin(), node.inputs.end(),
                                    [this](ValueId in) { return varies(in); }));
  }

  // Backwards from what the node makes to what it reads: values of both graphs.
  void add(const Node& node) {
    std::vector<ValueId> open;
    for (const ValueId out : node.outputs)
      if (out != kNoValue) open.push_back(file_.find_value(name_of(prepared_, out)));
    for (bool first = true; !open.empty(); first = false) {
      std::vector<ValueId> next;
      for (const ValueId id : open) step(id, first, next);
      open = std::move(next);
    }
  }

  std::vector<FileNode> found() const {
    std::vector<FileNode> rows;
    for (const size_t index : found_) rows.push_back(row_of(file_.nodes[index]));
    return rows;
  }

 private:
  static const std::string& name_of(const Graph& graph, ValueId id) {
    return graph.values[static_cast<size_t>(id)].name;
  }

  // Not what the file or folding makes constant.
  bool varies(ValueId id) const {
    if (id == kNoValue || file_.constant(id) || folded_.contains(name_of(file_, id))) return false;
    const int producer = links_.producer[static_cast<size_t>(id)];
    return producer < 0 || varies_[static_cast<size_t>(producer)];
  }

  void step(ValueId id, bool first, std::vector<ValueId>& next) {
    if (!varies(id) || (!first && kept_.contains(name_of(file_, id)))) return;
    const int producer = links_.producer[static_cast<size_t>(id)];
    if (producer < 0 || !found_.insert(static_cast<size_t>(producer)).second) return;
    for (const ValueId in : file_.nodes[static_cast<size_t>(producer)].inputs) next.push_back(in);
  }

  FileNode row_of(const Node& node) const {
    FileNode row{node.name, node.op, {}, {}};
    for (const ValueId in : node.inputs)
      if (varies(in)) row.reads.push_back(name_of(file_, in));
    for (const ValueId out : node.outputs)
      if (out != kNoValue) row.writes.push_back(name_of(file_, out));
    return row;
  }

  const Graph& file_;
  const Graph& prepared_;
  Links links_;
  std::vector<bool> varies_;  // by node of the file
  std::unordered_set<std::string_view> kept_, folded_;
  std::set<size_t> found_;
};

}  // namespace

std::vector<FileNode> file_nodes_of(const Graph& file, const Graph& prepared,
                                    std::span<const std::string> names) {
  const std::set<std::string_view> wanted(names.begin(), names.end());
  Finder finder(file, prepared);
  for (const Node& node : prepared.nodes)
    if (wanted.contains(node.name)) finder.add(node);
  return finder.found();
}

}  // namespace clvet
