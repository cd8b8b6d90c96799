#include "runtime/api/c/call.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <new>
#include <string>

#include "clvet/clvet_c.h"
#include "clvet/result.h"

namespace clvet::v1::c {

Error invalid(const std::string& message) { return {ErrorCode::invalid_argument, message}; }

Status check(const char* function, std::initializer_list<Wanted> wanted) {
  for (const Wanted& one : wanted)
    if (!one.pointer) return invalid(fmt::format("{}: '{}' is null", function, one.name));
  return {};
}

Status check_array(const char* name, const void* pointer, size_t count) {
  if (count > kTooMany)
    return invalid(fmt::format("{} of '{}' are more than there can be", count, name));
  if (count > 0 && !pointer)
    return invalid(fmt::format("'{}' is null, and not of {}", name, count));
  return {};
}

std::string without_nul(const std::string& text) {
  std::string clean;
  for (const char one : text) {
    if (one == 0) {
      clean += "\xef\xbf\xbd";
    } else {
      clean += one;
    }
  }
  return clean;
}

Status give_text(char** out, const Result<std::string>& text) {
  if (!text) return text.error();
  const std::string clean = without_nul(*text);
  char* copy = static_cast<char*>(std::malloc(clean.size() + 1));
  if (!copy) throw std::bad_alloc();
  std::memcpy(copy, clean.c_str(), clean.size() + 1);
  *out = copy;
  return {};
}

Status check_size(size_t size, size_t known, size_t alignment) {
  if (size >= sizeof(size_t) && size <= 16 * known && size % alignment == 0) return {};
  return invalid(
      fmt::format("struct_size is {}, and not of these options: begin with CLVET_INIT", size));
}

Status check_unknown(const void* options, size_t known, size_t size) {
  const auto* bytes = static_cast<const unsigned char*>(options);
  if (size <= known || std::all_of(bytes + known, bytes + size, [](auto one) { return one == 0; }))
    return {};
  return Error{ErrorCode::unsupported,
               fmt::format("these options ask for something that clvet {} does not know: "
                           "use a newer libclvet",
                           clvet_version())};
}

}  // namespace clvet::v1::c
