// The schemas of the documents and data files, as they are in the program.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace clvet {

struct SchemaFile {
  std::string name;       // "run" of run.schema.json
  std::string_view text;  // a JSON Schema, draft 7
};

// By name.
std::vector<SchemaFile> schema_files();
// kNotFound names those that there are.
Result<SchemaFile> schema_file(const std::string& name);

}  // namespace clvet
