#include "reports/schema/schemas.h"

#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "base/embedded.h"
#include "base/result.h"
#include "base/text.h"
#include "embedded_schemas.h"

namespace clvet {

std::vector<SchemaFile> schema_files() {
  std::vector<SchemaFile> files;
  for (const EmbeddedFile& file : embedded_schemas())
    files.push_back({std::string(file.path.substr(0, file.path.find('.'))), file.text});
  return files;
}

Result<SchemaFile> schema_file(const std::string& name) {
  std::vector<std::string> names;
  for (const SchemaFile& file : schema_files()) {
    if (file.name == name) return file;
    names.push_back(file.name);
  }
  return fail(ErrorCode::kNotFound, "there is no schema '{}'; there are {}", one_line(name),
              fmt::join(names, ", "));
}

}  // namespace clvet
