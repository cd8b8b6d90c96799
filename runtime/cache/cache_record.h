// What the cache of programs holds, `clvet.cache/1`.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/cache/program_cache.h"

namespace clvet {

struct CacheRecord {
  std::string folder;
  size_t limit = 0;  // bytes
  std::vector<CachedProgram> programs;
  std::vector<DistrustedProgram> distrusted;
  // What the verb did with programs.
  std::optional<size_t> removed, exported, imported;
  size_t tuned_calls = 0;  // whose kernels `clvet tune` measured; kept beside the folder
  // What the verb did with those.
  std::optional<size_t> removed_calls, exported_calls, imported_calls;
  std::vector<std::string> refused;  // sentences: what was not imported

  size_t bytes() const;
};

// Of the folder as it is. Errors: as list_programs.
Result<CacheRecord> cache_record(const std::string& folder);
std::string cache_record_to_json(const CacheRecord& record);

}  // namespace clvet
