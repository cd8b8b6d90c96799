// What the cache of programs holds, for a terminal.
#pragma once

#include <string>

#include "runtime/cache/cache_record.h"

namespace clvet {

std::string cache_text(const CacheRecord& record);

}  // namespace clvet
