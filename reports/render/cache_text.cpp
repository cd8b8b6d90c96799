#include "reports/render/cache_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/clock.h"
#include "base/language.h"
#include "reports/render/check_text.h"
#include "runtime/cache/cache_record.h"
#include "runtime/cache/program_cache.h"

namespace clvet {
namespace {

std::string size_text(size_t bytes) { return readable_bytes(static_cast<int64_t>(bytes)); }

std::string line_of(const CachedProgram& one, size_t wide) {
  const std::string name = one.label.kernel.empty() ? one.file : one.label.kernel;
  std::string line =
      fmt::format("  {:<{}}  {:>9}  {}", name, wide, size_text(one.bytes), utc_of(one.used));
  if (!one.label.device.empty()) line += "  " + one.label.device;
  if (!one.fault.empty()) line += "  " + tr("not usable: {}", translated(one.fault));
  return line + "\n";
}

}  // namespace

std::string cache_text(const CacheRecord& record) {
  std::string text = tr("{} programs in {}, {} of at most {}", record.programs.size(),
                        record.folder, size_text(record.bytes()), size_text(record.limit)) +
                     "\n";
  size_t wide = 0;
  for (const CachedProgram& one : record.programs)
    wide = std::max(wide, one.label.kernel.empty() ? one.file.size() : one.label.kernel.size());
  for (const CachedProgram& one : record.programs) text += line_of(one, wide);
  for (const DistrustedProgram& one : record.distrusted)
    text += tr("not used any more: {}", translated(one.reason)) + "\n";
  if (record.tuned_calls > 0)
    text += tr("{} calls with times of 'clvet tune'", record.tuned_calls) + "\n";
  return text;
}

}  // namespace clvet
