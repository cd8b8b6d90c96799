#include "probe/files/library_names.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/text.h"
#include "probe/data/embedded_json.h"

namespace clvet {
namespace {

Result<std::vector<LibraryName>> read_names() {
  CLVET_ASSIGN_OR_RETURN(const nlohmann::json table, embedded_json("cl/library_names.json"));
  std::vector<LibraryName> rows;
  for (const auto& row : table.at("libraries")) {
    rows.push_back({row.at("name"), row.value("family", ""), row.value("loader", false),
                    row.value("bare", true), row.value("folders", false),
                    row.value("software", false), row.value("variants", false),
                    row.value("icd_only", false)});
  }
  return rows;
}

// "libmali" of libmali.so.1
std::string_view stem_of(std::string_view name) { return name.substr(0, name.find(".so")); }

std::string filled(std::string folder, std::string_view word, std::string_view value) {
  if (const auto at = folder.find(word); at != std::string::npos)
    folder.replace(at, word.size(), value);
  return folder;
}

std::vector<std::string> folders_for(const nlohmann::json& table, const std::string& triplet,
                                     int bits) {
  auto folders = table.at("folders").get<std::vector<std::string>>();
  if (bits == 32) {
    for (const std::string folder : table.at("folders_of_32_bits")) folders.push_back(folder);
  }
  for (std::string& folder : folders)
    folder = filled(filled(folder, "{triplet}", triplet), "{bits}", bits == 64 ? "64" : "");
  return folders;
}

}  // namespace

const Result<std::vector<LibraryName>>& library_names() {
  static const Result<std::vector<LibraryName>> names = read_names();
  return names;
}

const LibraryName* library_name_of(std::string_view path) {
  const auto& names = library_names();
  if (!names) return nullptr;
  const std::string file = file_name_of(path);
  const std::string_view stem = stem_of(file);
  if (stem.size() == file.size()) return nullptr;
  const LibraryName* variant = nullptr;
  for (const LibraryName& row : *names) {
    const std::string_view own = stem_of(row.name);
    if (own == stem) return &row;
    if (!variant && row.variants && stem.starts_with(own)) variant = &row;
  }
  return variant;
}

bool is_software(std::string_view path) {
  const LibraryName* row = library_name_of(path);
  return row && row->software;
}

std::string family_of(std::string_view path) {
  const LibraryName* row = library_name_of(path);
  return row ? row->family : std::string();
}

Result<std::vector<std::string>> known_paths(const std::string& triplet, int bits) {
  CLVET_ASSIGN_OR_RETURN(const nlohmann::json table, embedded_json("cl/library_names.json"));
  CLVET_ASSIGN_OR_RETURN(const std::vector<LibraryName> names, library_names());
  std::vector<std::string> paths;
  for (const std::string& folder : folders_for(table, triplet, bits)) {
    for (const LibraryName& row : names) {
      const std::string path = folder + "/" + row.name;
      if (row.folders && std::find(paths.begin(), paths.end(), path) == paths.end())
        paths.push_back(path);
    }
  }
  return paths;
}

}  // namespace clvet
