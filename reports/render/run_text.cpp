#include "reports/render/run_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <numeric>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/bfloat.h"
#include "base/half.h"
#include "base/language.h"
#include "base/text.h"
#include "reports/render/plan_text.h"
#include "reports/render/shown.h"
#include "reports/render/text.h"
#include "runtime/decode/ctc.h"
#include "runtime/graph/tensor.h"
#include "runtime/plan/plan.h"
#include "runtime/run/run_record.h"

namespace clvet {
namespace {

std::string node_line(const NodeRecord& node) {
  const std::string predicted =
      node.predicted_ms > 0 ? tr("(predicted {:.3f})", node.predicted_ms) : "";
  return fmt::format("  {:<24} {:<18} {:<7} {:8.3f} ms {:<18}  {}\n", node.name.substr(0, 24),
                     node.op, shown(node.place), node.ms, predicted,
                     node.kernel.empty() ? translated(node.reason) : node.kernel);
}

// Largest first, NaN before all: an order also where there are NaN.
bool precedes(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && !std::isnan(b);
  return a > b;
}

template <class T>
std::string value_text(T value) {
  if constexpr (std::is_same_v<T, Half>) {
    return fmt::format("{:.5g}", half_to_float(value.bits));
  } else if constexpr (std::is_same_v<T, Bfloat>) {
    return fmt::format("{:.5g}", bfloat_to_float(value.bits));
  } else if constexpr (std::is_floating_point_v<T>) {
    return fmt::format("{:.5g}", value);
  } else {
    return fmt::format("{}", value);
  }
}

// "1, 2, 3 ..."
template <class T>
std::string first_values(const Tensor& tensor) {
  constexpr size_t kShown = 6;
  const std::span<const T> values = tensor.values<T>();
  std::string text;
  for (const T value : values.first(std::min(kShown, values.size())))
    text += (text.empty() ? "" : ", ") + value_text(value);
  return values.size() > kShown ? text + " ..." : text;
}

}  // namespace

std::string run_text(const RunRecord& record, bool explain) {
  std::string text;
  int on_device = 0;
  for (const NodeRecord& node : record.nodes) {
    on_device += node.place == Place::kDevice;
    if (explain) text += node_line(node);
  }
  if (explain) text += refused_text(record.refused);
  const bool host = record.device == "host";
  text += host ? tr("ran on the host")
               : tr("ran on {} with {}", record.device, describe(record.combination));
  text += tr(": {} of {} nodes on OpenCL, first run {:.1f} ms, fastest later run {:.2f} ms "
             "(median {:.2f})",
             on_device, record.nodes.size(), record.first_ms, record.min_ms, record.median_ms) +
          "\n";
  if (record.checked_every > 0)
    text += tr("the host checks one result in {}: a fault is found within so many",
               record.checked_every) +
            "\n";
  if (!record.not_best.empty() && !host) text += translated(record.not_best) + "\n";
  if (record.choice) {
    text += tr("measured: {:.2f} ms on the device, {:.2f} ms on the host", record.choice->device_ms,
               record.choice->host_ms);
    if (!host && record.choice->host_ms < record.choice->device_ms && !record.choice->host_wins())
      text += tr(": the device stays unless the host needs a fifth less time");
    text += "\n";
  }
  return text;
}

std::string top_text(const std::map<std::string, Tensor>& outputs, int count) {
  if (outputs.empty()) return {};
  const auto& [name, tensor] = *outputs.begin();
  const std::vector<double> all = tensor.to_f64();
  const auto length = tensor.rank() == 0 ? all.size() : static_cast<size_t>(tensor.shape().back());
  std::vector<size_t> order(std::min(length, all.size()));
  std::iota(order.begin(), order.end(), size_t{0});
  const auto kept = std::min<size_t>(static_cast<size_t>(count), order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept), order.end(),
                    [&](size_t a, size_t b) { return precedes(all[a], all[b]); });
  std::string text = fmt::format("{} {}\n", name, to_string(tensor.type()));
  for (size_t i = 0; i < kept; ++i)
    text += tr("  class {:<6} {:.6f}", order[i], all[order[i]]) + "\n";
  return text;
}

std::string outputs_text(const std::map<std::string, Tensor>& outputs) {
  constexpr size_t kLines = 20;
  std::string text;
  size_t lines = 0;
  for (const auto& [name, tensor] : outputs) {
    if (lines++ == kLines) break;
    const std::string values =
        visit(tensor.dtype(), [&tensor = tensor]<class T>() { return first_values<T>(tensor); });
    text += fmt::format("{} {}: {}\n", one_line(name), to_string(tensor.type()),
                        values.empty() ? tr("no values") : values);
  }
  if (outputs.size() > kLines) text += tr("and {} more outputs", outputs.size() - kLines) + "\n";
  return text;
}

std::string decoded_text(const RunRecord& record) {
  std::string text;
  for (const DecodedText& row : record.texts) {
    text += tr("text {:.3f}  {}", row.score, row.text) + "\n";
  }
  return text;
}

}  // namespace clvet
