#include "runtime/ops/support/equation.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "runtime/graph/graph.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/refusals.h"

namespace clvet {
namespace {

constexpr int kDots = -1;  // the last axis of an ellipsis

// The labels of a term whose ellipsis stands for `dots` axes; false where it is none.
bool read_term(const std::string& term, int64_t dots, Labels& labels) {
  for (size_t i = 0; i < term.size(); ++i) {
    if (std::isalpha(static_cast<unsigned char>(term[i]))) {
      labels.push_back(term[i]);
    } else if (term.compare(i, 3, "...") == 0 && dots >= 0) {
      for (int64_t k = dots; k-- > 0;) labels.push_back(kDots - static_cast<int>(k));
      dots = -1;
      i += 2;
    } else {
      return false;
    }
  }
  return true;
}

int64_t letters_in(const std::string& term) {
  return std::count_if(term.begin(), term.end(),
                       [](unsigned char c) { return std::isalpha(c) != 0; });
}

// Without "->": the ellipsis, then what stands once, in alphabetical order.
Labels implied_output(const Equation& equation, int64_t dots) {
  std::map<int, int> seen;
  for (const Labels& labels : equation.inputs) {
    for (const int label : labels) ++seen[label];
  }
  Labels output;
  for (int64_t k = dots; k-- > 0;) output.push_back(kDots - static_cast<int>(k));
  for (const auto& [label, count] : seen) {
    if (label > 0 && count == 1) output.push_back(label);
  }
  return output;
}

// Axes of an ellipsis broadcast, those of a letter are equal.
Status read_extents(const OpCall& call, Equation& equation) {
  for (size_t i = 0; i < equation.inputs.size(); ++i) {
    for (size_t axis = 0; axis < equation.inputs[i].size(); ++axis) {
      const int label = equation.inputs[i][axis];
      const int64_t extent = call.shape(i)[axis];
      const auto [at, fresh] = equation.extents.emplace(label, extent);
      if (fresh || at->second == extent || (label < 0 && extent == 1)) continue;
      if (label > 0 || at->second != 1) return bad_attribute(call, "equation");
      at->second = extent;
    }
  }
  return {};
}

}  // namespace

Result<Equation> equation_of(const OpCall& call) {
  std::string text = call.node.string_attr("equation", "");
  std::erase(text, ' ');
  const size_t arrow = text.find("->");
  const std::vector<std::string> terms = split(text.substr(0, arrow), ',');
  const auto bad = [&] { return bad_attribute(call, "equation"); };
  if (terms.size() != call.inputs.size()) return bad();
  Equation equation;
  int64_t most = 0;
  for (size_t i = 0; i < terms.size(); ++i) {
    const bool open = terms[i].find("...") != std::string::npos;
    const int64_t dots = static_cast<int64_t>(call.shape(i).size()) - letters_in(terms[i]);
    if (dots < 0 || (!open && dots != 0)) return bad();
    most = std::max(most, dots);
    Labels labels;
    if (!read_term(terms[i], open ? dots : -1, labels)) return bad();
    equation.inputs.push_back(std::move(labels));
  }
  CLVET_RETURN_IF_ERROR(read_extents(call, equation));
  if (arrow == std::string::npos) {
    equation.output = implied_output(equation, most);
  } else if (!read_term(text.substr(arrow + 2), most, equation.output)) {
    return bad();
  }
  std::set<int> seen;
  for (const int label : equation.output) {
    if (!equation.extents.contains(label) || !seen.insert(label).second) return bad();
  }
  return equation;
}

}  // namespace clvet
