#include "probe/data/data_files.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/embedded.h"
#include "base/file.h"
#include "base/json.h"
#include "base/result.h"
#include "embedded_probe_data.h"

namespace clvet {
namespace {

constexpr size_t kMostDataFiles = 4096;
constexpr size_t kLargestDataFile = 1 << 20;

Status check_data_dir(const std::string& data_dir) {
  std::error_code error;
  if (data_dir.empty() || std::filesystem::is_directory(data_dir, error)) return {};
  return fail(ErrorCode::kNotFound,
              "--data-dir {} is not a folder; name a folder that docs/discover.md describes",
              data_dir);
}

Result<std::vector<DataFile>> files_of_folder(const std::string& folder) {
  std::vector<DataFile> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() != ".json") continue;
    if (files.size() == kMostDataFiles)
      return fail(ErrorCode::kInvalidArgument, "{} holds more than {} files", folder,
                  kMostDataFiles);
    CLVET_ASSIGN_OR_RETURN(std::string text, read_file(entry.path().string(), kLargestDataFile));
    files.push_back({entry.path().string(), std::move(text)});
  }
  if (error)
    return fail(ErrorCode::kInvalidArgument, "cannot list {}: {}", folder, error.message());
  std::sort(files.begin(), files.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  return files;
}

}  // namespace

Result<std::vector<DataFile>> data_files(const std::string& data_dir, const std::string& folder) {
  CLVET_RETURN_IF_ERROR(check_data_dir(data_dir));
  std::error_code error;
  const std::string replacement = data_dir + "/" + folder;
  if (!data_dir.empty() && std::filesystem::is_directory(replacement, error))
    return files_of_folder(replacement);
  std::vector<DataFile> files;
  for (const EmbeddedFile& file : embedded_probe_data()) {
    if (file.path.starts_with(folder + "/"))
      files.push_back({std::string(file.path), std::string(file.text)});
  }
  return files;
}

Result<DataFile> data_file(const std::string& data_dir, const std::string& path) {
  CLVET_RETURN_IF_ERROR(check_data_dir(data_dir));
  std::error_code error;
  const std::string replacement = data_dir + "/" + path;
  if (!data_dir.empty() && std::filesystem::exists(replacement, error)) {
    CLVET_ASSIGN_OR_RETURN(std::string text, read_file(replacement, kLargestDataFile));
    return DataFile{replacement, std::move(text)};
  }
  for (const EmbeddedFile& file : embedded_probe_data()) {
    if (file.path == path) return DataFile{path, std::string(file.text)};
  }
  return fail(ErrorCode::kInternal, "clvet holds no data file {}", path);
}

Result<nlohmann::json> parse_data(const DataFile& file) {
  try {
    return nlohmann::json::parse(file.text);
  } catch (const nlohmann::json::exception& error) {
    return fail(ErrorCode::kInvalidArgument, "{}: {}", file.name, error.what());
  }
}

}  // namespace clvet
