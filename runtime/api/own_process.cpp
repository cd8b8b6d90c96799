#include "runtime/api/own_process.h"

#include <fmt/format.h>

#include "clvet/result.h"

namespace clvet::v1 {

Status OwnProcess::check(const char* what) const {
  if (holds()) return {};
  return Error{ErrorCode::unavailable,
               fmt::format("the {} belongs to process {}: after fork(), open one in the child",
                           what, process_)};
}

}  // namespace clvet::v1
