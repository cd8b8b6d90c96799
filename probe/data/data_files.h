// The data that a user may replace: embedded in the program, or from a folder of --data-dir.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/result.h"

namespace clvet {

struct DataFile {
  std::string name;  // as it was found, for messages
  std::string text;
};

// The .json files of `folder` (relative to probe/data/: "advice/known_issues"), by name: those of
// `data_dir`/`folder` where that exists, else those that are embedded. kNotFound where `data_dir`
// is named and is no folder.
Result<std::vector<DataFile>> data_files(const std::string& data_dir, const std::string& folder);
// One file in the same way.
Result<DataFile> data_file(const std::string& data_dir, const std::string& path);

// The document in a data file; kInvalidArgument names the file and the place of the fault.
Result<nlohmann::json> parse_data(const DataFile& file);

}  // namespace clvet
