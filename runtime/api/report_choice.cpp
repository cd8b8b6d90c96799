#include "runtime/api/report_choice.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/catalog.h"
#include "probe/host/environment.h"
#include "probe/report/report.h"
#include "runtime/run/kept_report.h"

namespace clvet {

Result<ReportChoice> choose_report(const std::string& file, const std::string& state_dir) {
  CLVET_ASSIGN_OR_RETURN(auto kept, kept_report(file, state_dir));
  if (!kept) return ReportChoice{{}, kNoReport};
  Report& report = kept->report;
  if (report.devices.empty())
    return ReportChoice{
        {}, fmt::format("the report {} has no OpenCL device: the host computes", kept->file)};
  std::erase_if(report.devices, [](const DeviceReport& device) { return !still_stands(device); });
  if (report.kernel_set == kernel_set() && !report.devices.empty())
    return ReportChoice{std::move(report), {}};
  const std::string why = fmt::format(
      "the report {} was made with other drivers or kernels: 'clvet probe' makes a new one",
      kept->file);
  if (!file.empty()) return fail(ErrorCode::kInvalidArgument, "{}", why);
  return ReportChoice{{}, why};
}

}  // namespace clvet
