#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "base/half.h"
#include "base/numbers.h"
#include "kernels/combination.h"
#include "kernels/contract.h"
#include "kernels/layout.h"
#include "kernels/weight_levels.h"

namespace clvet {
namespace {

double stored(Precision precision, double value) {
  return stores_half(precision) ? half_to_float(double_to_half(value))
                                : static_cast<double>(static_cast<float>(value));
}

int element_bytes(Precision precision) { return stores_half(precision) ? 2 : 4; }

void put(Precision precision, Bytes& bytes, int64_t index, double value) {
  if (stores_half(precision)) {
    const uint16_t bits = double_to_half(value);
    std::memcpy(bytes.data() + index * 2, &bits, 2);
  } else {
    const auto single = static_cast<float>(value);
    std::memcpy(bytes.data() + index * 4, &single, 4);
  }
}

// The matrix seen as k rows by cout columns; -1 where a row is padding.
struct Matrix {
  const TensorRole& role;
  int64_t cinp = role.pad_cin ? round_up(role.cin, 4) : role.cin;
  int64_t rows = round_up(role.taps * cinp, 4);
  int64_t columns = round_up(role.cout, kColumnAlign);

  // Of the first of its columns, which lie side by side.
  int64_t index(int64_t row) const {
    const int64_t tap = row / cinp, ci = row % cinp;
    if (tap >= role.taps || ci >= role.cin) return -1;
    return (tap * role.cin + ci) * role.cout;
  }
};

int bits_of(WeightType type) { return type == WeightType::kInt8 ? 8 : 4; }

// Of the scales: those of kQ4_0 are halves whatever the precision.
Precision scales_as(Precision precision, WeightType type) {
  return type == WeightType::kQ4_0 ? Precision::kNormal : precision;
}

// Values of a block of one column: a scale, and an offset where it does not follow from that.
int64_t values_a_block(WeightType type) { return type == WeightType::kQ4_0 ? 1 : 2; }

// One column of one block of kQuantBlock rows.
struct QuantBlock {
  double scale = 0, offset = 0;
  int levels = 255;

  // Ties to even; 0 for NaN.
  int quantise(double value) const {
    if (scale == 0) return 0;
    constexpr double kWholeFrom = 0x1p52;  // doubles from here on have no fraction
    const double level =
        std::min(std::max(0.0, (value - offset) / scale), static_cast<double>(levels));
    return static_cast<int>(level + kWholeFrom - kWholeFrom);
  }
};

// Those of one block of rows, a column each. Walked as the values lie: there may be millions.
std::vector<QuantBlock> quant_blocks(const Matrix& matrix, Precision precision, WeightType type,
                                     int64_t block, std::span<const double> values) {
  const auto columns = static_cast<size_t>(matrix.role.cout);
  std::vector<double> low, high;
  const int64_t end = std::min((block + 1) * kQuantBlock, matrix.rows);
  for (int64_t row = block * kQuantBlock; row < end; ++row) {
    const int64_t index = matrix.index(row);
    if (index < 0) continue;
    const auto line = values.subspan(static_cast<size_t>(index), columns);
    if (low.empty()) low = high = std::vector<double>(line.begin(), line.end());
    for (size_t i = 0; i < columns; ++i) {
      low[i] = std::min(low[i], line[i]);
      high[i] = std::max(high[i], line[i]);
    }
  }
  std::vector<QuantBlock> blocks(columns);
  for (size_t i = 0; i < columns; ++i) {
    blocks[i].levels = (1 << bits_of(type)) - 1;
    if (low.empty()) continue;
    if (type == WeightType::kQ4_0) {
      const double most = high[i] > -low[i] ? high[i] : low[i];
      blocks[i].scale = stored(scales_as(precision, type), most / -kQ4_0Centre);
      blocks[i].offset = -kQ4_0Centre * blocks[i].scale;
      continue;
    }
    blocks[i].scale = stored(precision, (high[i] - low[i]) / blocks[i].levels);
    blocks[i].offset = stored(precision, low[i]);
  }
  return blocks;
}

// Of levels, those of every block.
std::vector<QuantBlock> quant_blocks(const Matrix& matrix, Precision precision,
                                     const WeightLevels& levels) {
  std::vector<QuantBlock> blocks(static_cast<size_t>(matrix.role.cout));
  for (size_t i = 0; i < blocks.size(); ++i) {
    blocks[i].scale = stored(precision, levels.scales[i]);
    blocks[i].offset = stored(precision, levels.offsets[i]);
  }
  return blocks;
}

// Position of (packed row, column) in elements of the packed matrix.
int64_t packed_index(int64_t row, int64_t column, int64_t packed_rows, int64_t pack) {
  return (column / pack * packed_rows + row) * pack + column % pack;
}

// visit(column, count, index) for what each panel has of a row: `count` columns from `column` on,
// one behind the other from `index` on (see packed_index).
template <class Visit>
void each_panel(int64_t row, int64_t columns, int64_t packed_rows, int64_t pack,
                const Visit& visit) {
  for (int64_t column = 0; column < columns; column += pack) {
    visit(column, std::min(pack, columns - column), packed_index(row, column, packed_rows, pack));
  }
}

int64_t rows_per_word(WeightType type) {
  return type == WeightType::kFloat ? 1 : 16 / bits_of(type);
}

void pack_float(const Matrix& matrix, Precision precision, int64_t pack,
                std::span<const double> values, PackedWeights& packed) {
  for (int64_t row = 0; row < matrix.rows; ++row) {
    const int64_t index = matrix.index(row);
    if (index < 0) continue;
    const double* line = values.data() + index;
    each_panel(row, matrix.role.cout, matrix.rows, pack,
               [&](int64_t column, int64_t count, int64_t at) {
                 for (int64_t i = 0; i < count; ++i)
                   put(precision, packed.data, at + i, line[column + i]);
               });
  }
}

int64_t quant_blocks_of(const Matrix& matrix) {
  return (matrix.rows + kQuantBlock - 1) / kQuantBlock;
}

void put_scales(const Matrix& matrix, Precision precision, WeightType type, int64_t pack,
                int64_t block, int64_t column, const QuantBlock& quant, PackedWeights& packed) {
  if (values_a_block(type) == 1) {
    put(scales_as(precision, type), packed.scales,
        packed_index(block, column, quant_blocks_of(matrix), pack), quant.scale);
    return;
  }
  const int64_t at = block * 2 * matrix.columns + column;
  put(precision, packed.scales, at, quant.scale);
  put(precision, packed.scales, at + matrix.columns, quant.offset);
}

uint16_t word_of(std::span<const uint8_t> quants, int bits) {
  uint16_t word = 0;
  int shift = 0;
  for (const uint8_t quant : quants) {
    word = static_cast<uint16_t>(word | quant << shift);
    shift += bits;
  }
  return word;
}

// The quantised `values` of a row, a column each, from bit `shift` on.
void add_to_words(std::span<const QuantBlock> quants, const double* values, int64_t shift,
                  std::span<uint16_t> words) {
  for (size_t column = 0; column < words.size(); ++column) {
    const int quant = quants[column].quantise(values[column]);
    words[column] = static_cast<uint16_t>(words[column] | quant << shift);
  }
}

// `blocks_of` gives the columns of a block of rows.
template <class BlocksOf>
void pack_quantised(const Matrix& matrix, Precision precision, WeightType type, int64_t pack,
                    std::span<const double> values, const BlocksOf& blocks_of,
                    PackedWeights& packed) {
  const int64_t per_word = rows_per_word(type), rows_of_words = matrix.rows / per_word;
  std::vector<uint16_t> words(static_cast<size_t>(matrix.role.cout));
  for (int64_t block = 0; block < quant_blocks_of(matrix); ++block) {
    const int64_t end = std::min((block + 1) * kQuantBlock, matrix.rows);
    const std::vector<QuantBlock> quants = blocks_of(block);
    for (int64_t column = 0; column < matrix.role.cout; ++column) {
      put_scales(matrix, precision, type, pack, block, column, quants[static_cast<size_t>(column)],
                 packed);
    }
    for (int64_t row = block * kQuantBlock; row < end; row += per_word) {
      std::fill(words.begin(), words.end(), uint16_t{0});
      for (int64_t i = 0; i < per_word; ++i) {
        const int64_t index = matrix.index(row + i);
        if (index >= 0) add_to_words(quants, values.data() + index, i * bits_of(type), words);
      }
      each_panel(row / per_word, matrix.role.cout, rows_of_words, pack,
                 [&](int64_t column, int64_t count, int64_t at) {
                   std::memcpy(packed.data.data() + at * 2, words.data() + column,
                               static_cast<size_t>(count) * 2);
                 });
    }
  }
}

int64_t panel_of(const Matrix& matrix, Storage storage, int64_t pack) {
  return pack == 0 || storage == Storage::kImage ? matrix.columns : pack;
}

// `pack` as panel_of() has it.
PackedSize size_of(const Matrix& matrix, Precision precision, WeightType type, int64_t pack) {
  const int64_t packed_rows = matrix.rows / rows_per_word(type);
  const bool floats = type == WeightType::kFloat;
  const int element = element_bytes(precision),
            of_scale = element_bytes(scales_as(precision, type));
  const int64_t values = values_a_block(type);
  const int64_t of_block = values == 1 ? round_up(matrix.columns, pack) : values * matrix.columns;
  return {
      static_cast<size_t>(round_up(matrix.columns, pack) * packed_rows * (floats ? element : 2)),
      floats ? 0 : static_cast<size_t>(quant_blocks_of(matrix) * of_block * of_scale),
      {matrix.columns / 4, packed_rows}};
}

PackedWeights empty_weights(const Matrix& matrix, Precision precision, WeightType type,
                            int64_t pack) {
  const PackedSize size = size_of(matrix, precision, type, pack);
  return {Bytes(size.data), Bytes(size.scales), size.image};
}

}  // namespace

int64_t weight_rows(const TensorRole& role) { return Matrix{role}.rows; }
int64_t weight_columns(const TensorRole& role) { return Matrix{role}.columns; }

PackedSize packed_size(const TensorRole& role, Precision precision, WeightType type,
                       Storage storage, int64_t pack) {
  const Matrix matrix{role};
  PackedSize size = size_of(matrix, precision, type, panel_of(matrix, storage, pack));
  size.data *= static_cast<size_t>(role.n);
  size.scales *= static_cast<size_t>(role.n);
  return size;
}

double bytes_a_weight(Precision precision, WeightType type) {
  if (type == WeightType::kFloat) return element_bytes(precision);
  const double of_block = element_bytes(scales_as(precision, type)) * values_a_block(type);
  return bits_of(type) / 8.0 + of_block / kQuantBlock;
}

namespace {

TensorRole one_of(TensorRole role) {
  role.n = 1;
  return role;
}
std::span<const double> values_of(const TensorRole& one, int64_t i, std::span<const double> all) {
  const auto count = static_cast<size_t>(one.elements());
  return all.subspan(static_cast<size_t>(i) * count, count);
}
template <class T>
void append(const std::vector<T>& from, std::vector<T>& to) {
  to.insert(to.end(), from.begin(), from.end());
}

PackedWeights pack_each(const TensorRole& role, Precision precision, WeightType type,
                        Storage storage, int64_t pack, std::span<const double> values) {
  const TensorRole one = one_of(role);
  PackedWeights all;
  for (int64_t i = 0; i < role.n; ++i) {
    PackedWeights each =
        pack_weights(one, precision, type, storage, pack, values_of(one, i, values));
    append(each.data, all.data);
    append(each.scales, all.scales);
    all.image = each.image;
  }
  return all;
}

}  // namespace

PackedWeights pack_weights(const TensorRole& role, Precision precision, WeightType type,
                           Storage storage, int64_t pack, std::span<const double> values) {
  if (role.n != 1) return pack_each(role, precision, type, storage, pack, values);
  const Matrix matrix{role};
  pack = panel_of(matrix, storage, pack);
  PackedWeights packed = empty_weights(matrix, precision, type, pack);
  if (type == WeightType::kFloat) {
    pack_float(matrix, precision, pack, values, packed);
  } else {
    const auto blocks_of = [&](int64_t block) {
      return quant_blocks(matrix, precision, type, block, values);
    };
    pack_quantised(matrix, precision, type, pack, values, blocks_of, packed);
  }
  return packed;
}

PackedWeights pack_levels(const TensorRole& role, Precision precision, Storage storage,
                          int64_t pack, std::span<const double> values,
                          const WeightLevels& levels) {
  const Matrix matrix{role};
  pack = panel_of(matrix, storage, pack);
  PackedWeights packed = empty_weights(matrix, precision, WeightType::kInt8, pack);
  const auto quants = quant_blocks(matrix, precision, levels);
  pack_quantised(
      matrix, precision, WeightType::kInt8, pack, values, [&](int64_t) { return quants; }, packed);
  return packed;
}

Values effective_levels(const TensorRole& role, Precision precision, std::span<const double> values,
                        const WeightLevels& levels) {
  const auto quants = quant_blocks(Matrix{role}, precision, levels);
  Values result(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const QuantBlock& quant = quants[i % quants.size()];
    result[i] = quant.scale * quant.quantise(values[i]) + quant.offset;
  }
  return result;
}

Values effective_weights(const TensorRole& role, Precision precision, WeightType type,
                         std::span<const double> values) {
  if (role.n != 1) {
    const TensorRole one = one_of(role);
    Values all;
    for (int64_t i = 0; i < role.n; ++i)
      append(effective_weights(one, precision, type, values_of(one, i, values)), all);
    return all;
  }
  const Matrix matrix{role};
  Values result(values.size());
  if (type == WeightType::kFloat) {
    std::transform(values.begin(), values.end(), result.begin(),
                   [&](double value) { return stored(precision, value); });
    return result;
  }
  for (int64_t block = 0; block < quant_blocks_of(matrix); ++block) {
    const int64_t end = std::min((block + 1) * kQuantBlock, matrix.rows);
    const auto quants = quant_blocks(matrix, precision, type, block, values);
    for (int64_t row = block * kQuantBlock; row < end; ++row) {
      const int64_t index = matrix.index(row);
      if (index < 0) continue;
      for (int64_t column = 0; column < role.cout; ++column) {
        const QuantBlock& quant = quants[static_cast<size_t>(column)];
        const auto at = static_cast<size_t>(index + column);
        result[at] = quant.scale * quant.quantise(values[at]) + quant.offset;
      }
    }
  }
  return result;
}

PackedWeights pack_rows(const TensorRole& role, Precision precision, Storage storage, int64_t pack,
                        const QuantisedRows& rows) {
  const Matrix matrix{role};
  pack = panel_of(matrix, storage, pack);
  PackedWeights packed = empty_weights(matrix, precision, rows.type, pack);
  const int64_t given = (role.cin + kQuantBlock - 1) / kQuantBlock;
  const int64_t per_word = rows_per_word(rows.type), words = matrix.rows / per_word;
  for (int64_t column = 0; column < role.cout; ++column) {
    for (int64_t block = 0; block < given; ++block) {
      const auto at = static_cast<size_t>(column * given + block);
      const bool with_offset = values_a_block(rows.type) > 1;
      const QuantBlock quant{rows.scales[at], with_offset ? rows.offsets[at] : 0};
      put_scales(matrix, precision, rows.type, pack, block, column, quant, packed);
    }
    const uint8_t* quants = rows.quants.data() + column * role.cin;
    for (int64_t row = 0; row < role.cin; row += per_word) {
      const auto count = static_cast<size_t>(std::min(per_word, role.cin - row));
      const uint16_t word = word_of({quants + row, count}, bits_of(rows.type));
      const int64_t at = packed_index(row / per_word, column, words, pack) * 2;
      std::memcpy(packed.data.data() + at, &word, 2);
    }
  }
  return packed;
}

PackedWeights pack_rows(const TensorRole& role, Precision precision, Storage storage, int64_t pack,
                        std::span<const float> rows) {
  const Matrix matrix{role};
  pack = panel_of(matrix, storage, pack);
  PackedWeights packed = empty_weights(matrix, precision, WeightType::kFloat, pack);
  for (int64_t column = 0; column < role.cout; ++column) {
    for (int64_t row = 0; row < role.cin; ++row) {
      put(precision, packed.data, packed_index(row, column, matrix.rows, pack),
          rows[static_cast<size_t>(column * role.cin + row)]);
    }
  }
  return packed;
}

}  // namespace clvet
