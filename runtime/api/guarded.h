// The border between the library and its users: errors and exceptions from within.
#pragma once

#include <exception>
#include <new>
#include <string>
#include <utility>

#include "base/result.h"
#include "clvet/result.h"

namespace clvet::v1 {

Error public_error(const ::clvet::Error& error);

// The same value or error, as users see it.
template <class T>
Result<T> to_public(::clvet::Result<T> result) {
  if (!result) return public_error(result.error());
  return std::move(*result);
}

// What `work` (a clvet::v1::Result) gives. Nothing is thrown past it.
template <class Work>
auto guarded(Work&& work) -> decltype(work()) {
  try {
    return std::forward<Work>(work)();
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::resource_exhausted, "there is not enough memory"};
  } catch (const std::exception& fault) {
    return Error{ErrorCode::internal, std::string("this is clvet's own fault: ") + fault.what()};
  }
}

}  // namespace clvet::v1
