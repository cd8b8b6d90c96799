// Einsum: operands are joined two at a time, each time as a batch of matrix products.
#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/shapes.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/refusals.h"
#include "runtime/ops/support/shape_rules.h"

namespace clvet::op_einsum {
namespace {

// Letters are themselves. The axes of an ellipsis count down from kDots: the last one is kDots.
using Labels = std::vector<int>;
constexpr int kDots = -1;

struct Equation {
  std::vector<Labels> inputs;
  Labels output;
  std::map<int, int64_t> extents;
  Shape shape(const Labels& labels) const {
    Shape shape;
    for (const int label : labels) shape.push_back(extents.at(label));
    return shape;
  }
};

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

Result<Types> infer(const OpCall& call) {
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    if (!call.has(i)) return bad_attribute(call, "equation");
  }
  CLVET_ASSIGN_OR_RETURN(const Equation equation, equation_of(call));
  return Types{{call.type(0).dtype, equation.shape(equation.output)}};
}

struct Term {
  Labels labels;
  Tensor tensor;
};

bool holds(const Labels& labels, int label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

// How far one index of `label` reaches: repeated labels walk a diagonal, extents of 1 are repeated.
int64_t step_of(const Term& term, int label) {
  const std::vector<int64_t> strides = strides_of(term.tensor.shape());
  int64_t step = 0;
  for (size_t i = 0; i < term.labels.size(); ++i) {
    if (term.labels[i] == label && term.tensor.shape()[i] != 1) step += strides[i];
  }
  return step;
}

// The term with axes `wanted`, summed over its other ones.
Result<Tensor> arranged(const Equation& equation, const Term& term, const Labels& wanted) {
  Labels walked = wanted;
  for (const int label : term.labels) {
    if (!holds(walked, label)) walked.push_back(label);
  }
  CLVET_ASSIGN_OR_RETURN(Tensor out, Tensor::create(term.tensor.dtype(), equation.shape(wanted)));
  const std::vector<int64_t> out_strides = strides_of(out.shape());
  std::vector<int64_t> steps[2];
  for (size_t i = 0; i < walked.size(); ++i) {
    steps[0].push_back(step_of(term, walked[i]));
    steps[1].push_back(i < wanted.size() ? out_strides[i] : 0);
  }
  const Shape space = equation.shape(walked);
  const int64_t length = space.empty() ? 1 : space.back();
  const int64_t from = space.empty() ? 0 : steps[0].back(),
                to = space.empty() ? 0 : steps[1].back();
  CLVET_RETURN_IF_ERROR(visit_numbers(term.tensor.dtype(), [&]<class T>() {
    using Sum = std::conditional_t<std::is_floating_point_v<T>, double, T>;
    std::vector<Sum> sums(static_cast<size_t>(out.elements()));
    const T* x = term.tensor.data<T>();
    for_each_row(space, steps, [&](const int64_t(&at)[2]) {
      for (int64_t i = 0; i < length; ++i) {
        Sum& sum = sums[static_cast<size_t>(at[1] + i * to)];
        sum = wrap_add(sum, static_cast<Sum>(x[at[0] + i * from]));
      }
    });
    for (int64_t i = 0; i < out.elements(); ++i)
      out.data<T>()[i] = static_cast<T>(sums[static_cast<size_t>(i)]);
  }));
  return out;
}

int64_t product(const Shape& shape) { return elements_of(shape); }

// Both terms as one, which keeps the labels in `kept`.
Result<Term> joined(const Equation& equation, const Term& a, const Term& b, const Labels& kept) {
  Labels both, summed, left, right;
  for (const int label : std::set<int>(a.labels.begin(), a.labels.end())) {
    if (holds(b.labels, label))
      (holds(kept, label) ? both : summed).push_back(label);
    else if (holds(kept, label))
      left.push_back(label);
  }
  for (const int label : std::set<int>(b.labels.begin(), b.labels.end())) {
    if (!holds(a.labels, label) && holds(kept, label)) right.push_back(label);
  }
  const auto chain = [](Labels x, const Labels& y, const Labels& z) {
    x.insert(x.end(), y.begin(), y.end());
    x.insert(x.end(), z.begin(), z.end());
    return x;
  };
  CLVET_ASSIGN_OR_RETURN(Tensor x, arranged(equation, a, chain(both, left, summed)));
  CLVET_ASSIGN_OR_RETURN(Tensor y, arranged(equation, b, chain(both, summed, right)));
  const int64_t batch = product(equation.shape(both)), depth = product(equation.shape(summed));
  x = x.reshaped({batch, product(equation.shape(left)), depth});
  y = y.reshaped({batch, depth, product(equation.shape(right))});
  Node node;
  node.op = "MatMul";
  node.def = find_op("", node.op);
  node.outputs = {0};
  const std::array<const Tensor*, 2> inputs = {&x, &y};
  CLVET_ASSIGN_OR_RETURN(std::vector<Tensor> made, run_node(node, inputs));
  Term out{chain(both, left, right), {}};
  out.tensor = made[0].reshaped(equation.shape(out.labels));
  return out;
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  CLVET_ASSIGN_OR_RETURN(const Equation equation, equation_of(call));
  Term term{equation.inputs[0], call.tensor(0)};
  for (size_t i = 1; i < call.inputs.size(); ++i) {
    Labels kept = equation.output;
    for (size_t k = i + 1; k < call.inputs.size(); ++k)
      kept.insert(kept.end(), equation.inputs[k].begin(), equation.inputs[k].end());
    CLVET_ASSIGN_OR_RETURN(term,
                           joined(equation, term, {equation.inputs[i], call.tensor(i)}, kept));
  }
  CLVET_ASSIGN_OR_RETURN(outputs[0], arranged(equation, term, equation.output));
  return {};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"Einsum"},
    .since = 12,
    .inputs = "T+",
    .types = "fiu",
    .attributes = "equation:s",
    .infer = infer,
    .host = host,
};

}  // namespace clvet::op_einsum
