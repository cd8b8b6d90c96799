// What every C function does: checks what its caller hands in, and turns errors into codes.
#pragma once

#include <cstddef>
#include <cstring>
#include <exception>
#include <initializer_list>
#include <new>
#include <string>
#include <utility>

#include "clvet/clvet_c.h"
#include "clvet/result.h"

namespace clvet::v1::c {

// More of one thing than any caller has: a number that was never set.
constexpr size_t kTooMany = size_t{1} << 20;

// Keeps what `error` says for clvet_last_error(), and gives its code.
clvet_code failed(const Error& error) noexcept;

Error invalid(const std::string& message);

// A parameter that must not be null.
struct Wanted {
  const char* name;
  const void* pointer;
};
Status check(const char* function, std::initializer_list<Wanted> wanted);
// `count` elements at `pointer`: null only where there are none, and not too many.
Status check_array(const char* name, const void* pointer, size_t count);

// What `work` (a Status) says, for a function whose parameters are there. Nothing is thrown past
// it.
template <class Work>
clvet_code call(const char* function, std::initializer_list<Wanted> wanted, const Work& work) {
  try {
    Status done = check(function, wanted);
    if (done) done = work();
    return done ? CLVET_OK : failed(done.error());
  } catch (const std::bad_alloc&) {
    return failed({ErrorCode::resource_exhausted, {}});
  } catch (const std::exception& fault) {
    return failed({ErrorCode::internal, fault.what()});
  } catch (...) {
    return failed({ErrorCode::internal, {}});
  }
}

template <class T>
void clear(T* out) {
  if (out) *out = {};
}

// A handle around `value`, or the error instead of it.
template <class Handle, class T>
Status give(Handle** out, Result<T> value) {
  if (!value) return value.error();
  *out = new Handle{std::move(*value)};
  return {};
}

inline std::string text_or(const char* text, const char* otherwise = "") {
  return text ? text : otherwise;
}

// As C can have it: U+FFFD for each NUL.
std::string without_nul(const std::string& text);

// For clvet_string_free().
Status give_text(char** out, const Result<std::string>& text);

Status check_size(size_t size, size_t known, size_t alignment);
Status check_unknown(const void* options, size_t known, size_t size);

// The caller's options, whose end this version or the caller may not know; null: the defaults.
template <class Options>
Result<Options> options_of(const Options* given) {
  Options options;
  CLVET_INIT(options);
  if (!given) return options;
  const size_t size = given->struct_size;
  if (const Status sane = check_size(size, sizeof options, alignof(Options)); !sane)
    return sane.error();
  if (const Status known = check_unknown(given, sizeof options, size); !known) return known.error();
  std::memcpy(&options, given, size < sizeof options ? size : sizeof options);
  return options;
}

}  // namespace clvet::v1::c
