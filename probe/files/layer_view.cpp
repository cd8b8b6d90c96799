#include "probe/files/layer_view.h"

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "probe/files/file_view.h"
#include "probe/files/icd_files.h"
#include "probe/files/linker.h"
#include "probe/files/loader_view.h"

namespace clvet {
namespace {

constexpr const char* kFolder = "/etc/OpenCL/layers";
constexpr size_t kMostLayers = 64;

LayerInView judged(const FileSystemView& view, const LinkerSetting& setting, bool read,
                   const std::string& from, const std::string& target) {
  LayerInView row{from, target, {}, read ? "honoured" : "ignored", {}};
  const Opening opening = open_library(view, setting, target);
  row.library = opening.path;
  if (!read) return row;
  const bool opens = opening.outcome == Opening::Outcome::kOpened;
  if (!opens)
    row.reason = fmt::format("{}: {}{}{}", target, to_string(opening.outcome),
                             opening.detail.empty() ? "" : ": ", opening.detail);
  for (const char* symbol : {"clGetLayerInfo", "clInitLayer"}) {
    if (opens && row.reason.empty() && !opening.symbols.count(symbol))
      row.reason = fmt::format("{} has no {}, so it is not a layer", target, symbol);
  }
  if (!row.reason.empty()) row.state = "broken";
  return row;
}

LayerInView read(const FileSystemView& view, const LinkerSetting& setting, bool honoured,
                 const std::string& path) {
  const auto real = resolve(view, path);
  const auto text = real ? view.text(*real, kLargestIcdFile)
                         : fail(ErrorCode::kNotFound, "the link leads to nothing");
  const std::string target = text ? parse_icd_file(path, *text).target : std::string();
  if (!target.empty()) return judged(view, setting, honoured, path, target);
  return {path,
          {},
          {},
          honoured ? "broken" : "ignored",
          text ? "it names no library" : text.error().message};
}

}  // namespace

std::vector<LayerInView> layers_of(const FileSystemView& view, const LinkerSetting& setting,
                                   const LoaderInView& loader) {
  const auto reads = [&](const char* name) { return loader.reads.count(name) > 0; };
  std::vector<LayerInView> found;
  const std::string named = setting.variable("OPENCL_LAYER_PATH");
  const auto folder = resolve(view, named.empty() ? kFolder : named);
  const std::vector<std::string> names = folder ? view.names(*folder) : std::vector<std::string>();
  for (const std::string& name : names) {
    if (name.ends_with(".lay") && found.size() < kMostLayers)
      found.push_back(read(view, setting, reads("OPENCL_LAYER_PATH"), *folder + "/" + name));
  }
  for (const std::string& library : split(setting.variable("OPENCL_LAYERS"), ':')) {
    if (!library.empty() && found.size() < kMostLayers)
      found.push_back(judged(view, setting, reads("OPENCL_LAYERS"), "OPENCL_LAYERS", library));
  }
  return found;
}

}  // namespace clvet
