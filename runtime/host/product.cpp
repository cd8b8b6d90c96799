#include "runtime/host/product.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/contract.h"
#include "runtime/host/activation.h"
#include "runtime/host/dot.h"
#include "runtime/host/matrix.h"
#include "runtime/host/parallel.h"
#include "runtime/host/scratch.h"
#include "runtime/host/tile.h"
#include "runtime/host/width.h"

namespace clvet {
namespace {

constexpr int64_t kDepth = 256;      // of a block: its panel fits the first cache
constexpr int64_t kColumns = 240;    // of a block, which fits the second cache; whole panels
constexpr int64_t kWholeTiles = 24;  // rows that are whole tiles at any width
// Multiplications that are worth waking a thread.
constexpr int64_t kGrain = 100'000;

int64_t panel_columns() {
  switch (width()) {
    case Width::k64:
      return TileSize<64>::kColumns;
    case Width::k32:
      return TileSize<32>::kColumns;
    default:
      return TileSize<16>::kColumns;
  }
}

int64_t divided_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Part of a product that one thread computes.
struct Task {
  const Product* product = nullptr;
  const float* a = nullptr;  // row by row, also where the product's is transposed
  int64_t a_stride = 0;
  int64_t row = 0, rows = 0, column = 0, columns = 0;
};

void start(const Product& p, const Task& task) {
  for (int64_t i = task.row; i < task.row + task.rows; ++i) {
    float* c = p.c + i * p.stride + task.column;
    if (p.column_bias)
      std::copy_n(p.column_bias + task.column, task.columns, c);
    else
      std::fill_n(c, task.columns, p.row_bias ? p.row_bias[i] : 0.f);
  }
}

// As many rows as this read a right matrix where it lies: to pack it would take as long.
constexpr int64_t kFewRows = 8;

// So few columns leave most of a vector empty: there, vectors run along the depth.
constexpr int64_t kFewColumns = 8, kEnoughDepth = 32;

void compute_by_dots(const Task& task) {
  const Product& p = *task.product;
  const int64_t depth = p.a.columns, columns = task.columns;
  const Scratch room(static_cast<size_t>(2 * depth * columns));
  const Scratch sum_room(static_cast<size_t>(task.rows * columns));
  float *packed = room.data(), *turned = packed + depth * columns, *sums = sum_room.data();
  p.b->pack(0, depth, task.column, columns, packed, columns);
  for (int64_t k = 0; k < depth; ++k) {
    for (int64_t j = 0; j < columns; ++j) turned[j * depth + k] = packed[k * columns + j];
  }
  dots_f32({task.a + task.row * task.a_stride, task.rows, task.a_stride}, {turned, columns, depth},
           static_cast<size_t>(depth), sums, columns, 1);
  if (!p.accumulate) start(p, task);
  for (int64_t i = 0; i < task.rows; ++i) {
    float* c = p.c + (task.row + i) * p.stride + task.column;
    for (int64_t j = 0; j < columns; ++j) c[j] += sums[i * columns + j];
  }
}

void compute_by_tiles(const Task& task) {
  const Product& p = *task.product;
  const int64_t panel = panel_columns(), depth = p.a.columns;
  if (depth == 0 && !p.accumulate) start(p, task);
  int64_t b_stride = 0;
  const float* lies = task.rows <= kFewRows ? p.b->lies(b_stride) : nullptr;
  const int64_t direct = lies ? task.columns / panel * panel : 0;
  const int64_t panels = divided_up(task.columns - direct, panel);
  const Scratch room(static_cast<size_t>(panels * panel * std::min(depth, kDepth)));
  float* packed = room.data();
  for (int64_t k = 0; k < depth; k += kDepth) {
    ProductBlock block{.a = task.a + task.row * task.a_stride + k, .a_stride = task.a_stride};
    block.rows = task.rows;
    block.depth = std::min(kDepth, depth - k);
    block.c = p.c + task.row * p.stride + task.column;
    block.c_stride = p.stride;
    block.accumulate = p.accumulate || k > 0;
    if (!block.accumulate) {
      block.row_bias = p.row_bias ? p.row_bias + task.row : nullptr;
      block.column_bias = p.column_bias ? p.column_bias + task.column : nullptr;
    }
    if (direct > 0) {
      block.b = lies + k * b_stride + task.column;
      block.b_stride = b_stride;
      block.b_panel = panel;
      block.columns = direct;
      at_width<ProductTiles>(&block);
    }
    for (int64_t i = 0; i < panels; ++i) {
      const int64_t from = direct + i * panel;
      p.b->pack(k, block.depth, task.column + from, std::min(panel, task.columns - from),
                packed + i * panel * block.depth, panel);
    }
    block.b = packed;
    block.b_stride = panel;
    block.b_panel = panel * block.depth;
    block.c += direct;
    if (block.column_bias) block.column_bias += direct;
    block.columns = task.columns - direct;
    if (panels > 0) at_width<ProductTiles>(&block);
  }
}

void compute(const Task& task) {
  const Product& p = *task.product;
  if (p.columns <= kFewColumns && p.a.columns >= kEnoughDepth)
    compute_by_dots(task);
  else
    compute_by_tiles(task);
  if (p.activation.act == Act::kNone) return;
  for (int64_t i = 0; i < task.rows; ++i)
    activate(p.activation, p.c + (task.row + i) * p.stride + task.column, task.columns);
}

// Cut into blocks of columns, and into rows where these are fewer than the threads want.
void add_tasks(const Task& whole, int64_t wanted, std::vector<Task>& tasks) {
  const int64_t panel = panel_columns(), panels = divided_up(whole.columns, panel);
  const int64_t across = divided_up(panels, kColumns / panel);
  const int64_t most = std::max<int64_t>(1, whole.rows / 32);
  const int64_t down = std::clamp<int64_t>(divided_up(wanted, across), 1, most);
  const int64_t rows = divided_up(divided_up(whole.rows, down), kWholeTiles) * kWholeTiles;
  for (int64_t i = 0; i < across; ++i) {
    for (int64_t row = 0; row < whole.rows; row += rows) {
      Task task = whole;
      task.row = row;
      task.rows = std::min(rows, whole.rows - row);
      task.column = i * panels / across * panel;
      task.columns = std::min((i + 1) * panels / across * panel, whole.columns) - task.column;
      tasks.push_back(task);
    }
  }
}

void transpose(const MatrixView& view, float* to) {
  for (int64_t i = 0; i < view.rows; ++i) {
    for (int64_t k = 0; k < view.columns; ++k)
      to[i * view.columns + k] = view.data[k * view.stride + i];
  }
}

}  // namespace

void multiply(std::span<const Product> products) {
  int64_t work = 0;
  size_t turned = 0;
  for (const Product& p : products) {
    work += p.a.rows * p.a.columns * p.columns;
    if (p.a.transposed) turned += static_cast<size_t>(p.a.rows * p.a.columns);
  }
  if (products.empty()) return;
  const bool alone = work < 2 * kGrain;
  const int64_t wanted =
      alone ? 1 : divided_up(2 * parallel_width(), static_cast<int64_t>(products.size()));
  std::vector<float> transposed(turned);
  float* next = transposed.data();
  std::vector<Task> tasks;
  for (const Product& p : products) {
    Task whole{&p, p.a.data, p.a.stride, 0, p.a.rows, 0, p.columns};
    if (p.a.transposed) {
      transpose(p.a, next);
      whole.a = next;
      whole.a_stride = p.a.columns;
      next += p.a.rows * p.a.columns;
    }
    if (p.a.rows > 0 && p.columns > 0) add_tasks(whole, wanted, tasks);
  }
  const auto count = static_cast<int64_t>(tasks.size());
  const int64_t grain = alone ? count : std::max<int64_t>(1, count * kGrain / work);
  parallel_for(count, grain, [&](int64_t first, int64_t end) {
    for (int64_t i = first; i < end; ++i) compute(tasks[static_cast<size_t>(i)]);
  });
}

}  // namespace clvet
