#include "runtime/ops/support/picking.h"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "runtime/graph/onnx_types.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/shapes.h"
#include "runtime/ops/support/steps.h"

namespace clvet {

Term counted(int64_t count, int64_t step) {
  std::vector<int64_t> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(i * step);
  return integers(std::move(values));
}

Term as_i64(Steps& s, const Term& given) {
  if (given.type.dtype == DType::kI64) return given;
  return s.one("Cast", {given}, {{"to", onnx_of_dtype(DType::kI64)}});
}

Term numbers_inside(Steps& s, const Term& given, int64_t extent, bool from_end) {
  Term numbers = as_i64(s, given);
  if (!from_end) {
    const Term below = s.one("Less", {numbers, integers({0})});
    numbers = s.one("Where", {below, integers({extent}), numbers});
  }
  return s.one("Gather", {counted(extent), numbers}, {{"axis", int64_t{0}}});
}

Term picked(Steps& s, const Term& table, const Term& at, const Shape& shape) {
  const Term rows = s.reshaped(at, {elements_of(at.shape())});
  return s.reshaped(s.one("Gather", {table, rows}, {{"axis", int64_t{0}}}), shape);
}

Term rows_of_tuples(Steps& s, const Term& tuples, std::span<const int64_t> extents) {
  const int64_t count = elements_of(tuples.shape()) / std::ssize(extents);
  const auto columns = s.cut(tuples, std::vector<int64_t>(extents.size(), 1));
  int64_t rows = elements_of(extents);
  Term at = no_term();
  for (size_t k = 0; k < columns.size(); ++k) {
    rows /= extents[k];
    const Term inside = numbers_inside(s, s.reshaped(columns[k], {count}), extents[k], true);
    const Term part = s.one("Mul", {inside, integers({rows})});
    at = at.present ? s.one("Add", {at, part}) : part;
  }
  return at;
}

Term places_along(Steps& s, const Term& indices, const Shape& shape, int64_t axis) {
  const Shape& out = indices.shape();
  std::vector<int64_t> strides = strides_of(shape);
  const int64_t step = std::exchange(strides[static_cast<size_t>(axis)], 0);
  const std::vector<int64_t> walk[1] = {strides};
  std::vector<int64_t> bases;
  for_each_row(out, walk, [&](const int64_t(&at)[1]) {
    for (int64_t i = 0; i < out.back(); ++i) bases.push_back(at[0] + i * strides.back());
  });
  const Term base = constant_term(Tensor::from(out, std::span<const int64_t>(bases)));
  const Term inside = numbers_inside(s, indices, shape[static_cast<size_t>(axis)], true);
  return s.one("Add", {s.one("Mul", {inside, integers({step})}), base});
}

Term with_rows(Steps& s, const Term& table, const Term& updates, const Term& places,
               const Shape& shape) {
  const int64_t rows = table.shape()[0], count = updates.shape()[0];
  const Term fresh = s.one("Add", {counted(count), integers({rows})});
  const Term from = s.one("ScatterElements", {counted(rows), s.reshaped(places, {count}), fresh});
  return picked(s, s.one("Concat", {table, updates}, {{"axis", int64_t{0}}}), from, shape);
}

std::vector<Term> with_rows_reduced(Steps& s, const Term& table, const Term& updates,
                                    const Term& places, const Shape& shape, const char* op,
                                    double neutral) {
  constexpr size_t kMostRounds = 16;
  if (!s.ok() || !places.known) return {};
  const auto rows = static_cast<size_t>(table.shape()[0]);
  const int64_t count = updates.shape()[0], block = updates.shape()[1];
  // By round and row: its next update, or the neutral row behind them.
  std::vector<std::vector<int64_t>> rounds;
  std::vector<size_t> done(rows, 0);
  int64_t next = 0;
  for (const int64_t place : places.value.to_i64()) {
    const size_t round = done[static_cast<size_t>(place)]++;
    if (round == kMostRounds) return {};
    if (round == rounds.size()) rounds.emplace_back(rows, count);
    rounds[round][static_cast<size_t>(place)] = next++;
  }
  const std::vector<float> none(static_cast<size_t>(block), static_cast<float>(neutral));
  const Term last = constant_term(Tensor::from({1, block}, std::span<const float>(none)));
  const Term all = s.one("Concat", {updates, last}, {{"axis", int64_t{0}}});
  Term y = table;
  for (const std::vector<int64_t>& round : rounds)
    y = s.one(op, {y, picked(s, all, integers(round), table.shape())});
  return {s.reshaped(y, shape)};
}

Tensor places_in(const Shape& shape, const Shape& out) {
  const std::vector<int64_t> strides[1] = {broadcast_strides(shape, out)};
  const int64_t length = out.empty() ? 1 : out.back();
  const int64_t step = out.empty() ? 0 : strides[0].back();
  std::vector<int64_t> places;
  for_each_row(out, strides, [&](const int64_t(&at)[1]) {
    for (int64_t i = 0; i < length; ++i) places.push_back(at[0] + i * step);
  });
  return Tensor::from(out, std::span<const int64_t>(places));
}

}  // namespace clvet
