#include "reports/render/diagnosis_device_words.h"

#include <string>
#include <vector>

#include "base/language.h"
#include "reports/render/diagnosis_words.h"
#include "runtime/precision/diagnosis.h"

namespace clvet {
namespace {

std::string way_words(const OtherWay& way) {
  if (way.right)
    return tr("right on this device: precision {}, activations in {} ({:.3g} ms)", way.precision,
              way.storage, way.ms);
  return tr("wrong on this device, too: precision {}, activations in {} (error {})", way.precision,
            way.storage, percent(way.part));
}

std::string time_words(const PrecisionDiagnosis& diagnosis) {
  const PlanTimes& times = *diagnosis.measured;
  if (!diagnosis.plan)
    return tr("measured on {}: {:.3g} ms, with all nodes in float32 {:.3g} ms", diagnosis.place,
              times.low, times.high);
  return tr(
      "measured on {}: {:.3g} ms, with the cure {:.3g} ms, with all nodes in float32 {:.3g} ms",
      diagnosis.place, times.low, times.raised, times.high);
}

}  // namespace

std::vector<std::string> device_words(const PrecisionDiagnosis& diagnosis) {
  std::vector<std::string> words;
  for (const BrokenKernel& one : diagnosis.broken)
    words.push_back(
        tr("kernel {} computes something else than the host at '{}', in float32, too: "
           "it is not used any more",
           one.kernel, one.node));
  for (const OtherWay& way : diagnosis.other_ways) words.push_back(way_words(way));
  if (diagnosis.measured) words.push_back(time_words(diagnosis));
  return words;
}

std::string stopped_words(const PrecisionDiagnosis& diagnosis) {
  if (!diagnosis.stopped) return {};
  return tr("the diagnosis ended before its time; what was found until then stands");
}

}  // namespace clvet
