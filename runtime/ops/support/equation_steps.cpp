#include "runtime/ops/support/equation_steps.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/equation.h"
#include "runtime/ops/support/steps.h"

namespace clvet {
namespace {

// Its axes are those of `labels`, each longer than 1.
struct Factor {
  Labels labels;
  Term term;
};

template <class Wanted>
Labels those(const Labels& labels, Wanted wanted) {
  Labels chosen;
  std::ranges::copy_if(labels, std::back_inserter(chosen), wanted);
  return chosen;
}

// The axes of two factors, of which neither has one alone that nobody keeps.
struct Roles {
  Labels both, summed;  // of both: kept, and not
  Labels left, right;   // of one alone
};

Roles roles_of(const Labels& a, const Labels& b, const Labels& kept) {
  Roles roles;
  roles.both = those(a, [&](int label) { return holds(b, label) && holds(kept, label); });
  roles.summed = those(a, [&](int label) { return holds(b, label) && !holds(kept, label); });
  roles.left = those(a, [&](int label) { return !holds(b, label); });
  roles.right = those(b, [&](int label) { return !holds(a, label); });
  return roles;
}

// `order` cut where another of the two factors begins or ends: the axes of a run may be one axis.
std::vector<Labels> runs_of(const Labels& order, const Labels& a, const Labels& b) {
  std::vector<Labels> runs;
  for (const int label : order) {
    const auto alike = [&](int other) {
      return holds(a, label) == holds(a, other) && holds(b, label) == holds(b, other);
    };
    if (runs.empty() || !alike(runs.back().front())) runs.emplace_back();
    runs.back().push_back(label);
  }
  return runs;
}

class Writer {
 public:
  Writer(Steps& steps, const Equation& equation) : s_(steps), equation_(equation) {}
  Term written() {
    Factor all = factor(0);
    for (size_t i = 1; i < equation_.inputs.size(); ++i)
      all = joined(std::move(all), factor(i), equation_.needed_after(i));
    all = summed(std::move(all), equation_.output);
    const Labels order =
        those(equation_.output, [&](int label) { return holds(all.labels, label); });
    return s_.reshaped(ordered(all, order), equation_.shape(equation_.output));
  }

 private:
  int64_t extent(const Labels& labels) const { return elements_of(equation_.shape(labels)); }

  // An input without its axes of extent 1, which say nothing.
  Factor factor(size_t i) {
    Factor out;
    Shape shape;
    const Term x = s_.input(i);
    for (size_t axis = 0; axis < x.shape().size(); ++axis) {
      if (x.shape()[axis] == 1) continue;
      out.labels.push_back(equation_.inputs[i][axis]);
      shape.push_back(x.shape()[axis]);
    }
    out.term = s_.reshaped(x, std::move(shape));
    return out;
  }

  Term ordered(const Factor& x, const Labels& order) {
    if (x.labels == order) return x.term;
    std::vector<int64_t> perm;
    for (const int label : order)
      perm.push_back(std::ranges::find(x.labels, label) - x.labels.begin());
    return s_.transposed(x.term, std::move(perm));
  }

  // Without the axes that nobody keeps.
  Factor summed(Factor x, const Labels& kept) {
    std::vector<int64_t> axes;
    for (size_t i = 0; i < x.labels.size(); ++i) {
      if (!holds(kept, x.labels[i])) axes.push_back(static_cast<int64_t>(i));
    }
    if (axes.empty()) return x;
    x.term = s_.reduced("ReduceSum", x.term, std::move(axes));
    x.labels = those(x.labels, [&](int label) { return holds(kept, label); });
    x.term = s_.reshaped(x.term, equation_.shape(x.labels));
    return x;
  }

  Factor joined(Factor a, Factor b, const Labels& kept) {
    a = summed(std::move(a), chain(kept, b.labels));
    b = summed(std::move(b), chain(kept, a.labels));
    Roles roles = roles_of(a.labels, b.labels, kept);
    if (roles.summed.empty()) return multiplied(a, b, kept);
    if (roles.left.empty() && roles.right.empty())
      return summed(multiplied(a, b, chain(kept, roles.summed)), kept);
    if (comes_first(b, a, roles, kept)) {
      std::swap(a, b);
      std::swap(roles.left, roles.right);
    }
    return product(a, b, roles);
  }

  // Whether `x` is the better left matrix: weights are the right one, else the order of what is
  // kept decides.
  bool comes_first(const Factor& x, const Factor& other, const Roles& roles, const Labels& kept) {
    if (roles.both.empty() && x.term.known != other.term.known) return other.term.known;
    const auto own = std::ranges::find_if(
        kept, [&](int label) { return holds(x.labels, label) != holds(other.labels, label); });
    return own != kept.end() && holds(x.labels, *own);
  }

  Factor product(const Factor& a, const Factor& b, const Roles& roles) {
    const int64_t rows = extent(roles.left), depth = extent(roles.summed),
                  columns = extent(roles.right);
    const Shape batch = roles.both.empty() ? Shape{} : Shape{extent(roles.both)};
    const auto matrix = [&](const Factor& x, const Labels& order, int64_t m, int64_t n) {
      Shape shape = batch;
      shape.insert(shape.end(), {m, n});
      return s_.reshaped(ordered(x, order), std::move(shape));
    };
    const Term left = matrix(a, chain(chain(roles.both, roles.left), roles.summed), rows, depth);
    const Term right =
        matrix(b, chain(chain(roles.both, roles.summed), roles.right), depth, columns);
    Factor out{chain(chain(roles.both, roles.left), roles.right), {}};
    out.term = s_.reshaped(s_.one("MatMul", {left, right}), equation_.shape(out.labels));
    return out;
  }

  // Element by element, in the order in which the result is wanted.
  Factor multiplied(const Factor& a, const Factor& b, const Labels& kept) {
    Factor out;
    for (const int label : kept) {
      const bool known = holds(a.labels, label) || holds(b.labels, label);
      if (known && !holds(out.labels, label)) out.labels.push_back(label);
    }
    const std::vector<Labels> runs = runs_of(out.labels, a.labels, b.labels);
    const auto spread = [&](const Factor& x) {
      const auto has = [&](int label) { return holds(x.labels, label); };
      Shape shape;
      for (const Labels& run : runs) shape.push_back(has(run.front()) ? extent(run) : 1);
      return s_.reshaped(ordered(x, those(out.labels, has)), std::move(shape));
    };
    out.term = s_.reshaped(s_.one("Mul", {spread(a), spread(b)}), equation_.shape(out.labels));
    return out;
  }

  Steps& s_;
  const Equation& equation_;
};

bool takes_diagonal(const Labels& labels) {
  return std::set<int>(labels.begin(), labels.end()).size() != labels.size();
}

bool is_empty(const OpInput& input) { return elements_of(input.type.shape) == 0; }

}  // namespace

std::vector<Term> equation_steps(Steps& s) {
  const auto equation = equation_of(s.call());
  if (!equation || std::ranges::any_of(equation->inputs, takes_diagonal) ||
      std::ranges::any_of(s.call().inputs, is_empty))
    return {};
  return {Writer(s, *equation).written()};
}

}  // namespace clvet
