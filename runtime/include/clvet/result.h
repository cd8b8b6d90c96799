// What a call gives, or why it gives nothing. No call of clvet throws, prints or ends the process.
#pragma once

#include <cassert>
#include <string>
#include <utility>
#include <variant>

#include "clvet/abi.h"

CLVET_ABI_BEGIN

enum class ErrorCode {
  invalid_argument,    // the caller's value, file or model is wrong; give another
  not_found,           // a named thing does not exist; name another
  unsupported,         // known, and never possible here; choose another way
  unavailable,         // not possible now (no device, no report); skip or try later
  busy,                // somebody else holds it (a mapping, a run, another process); wait
  stale,               // it was made before resize(), or its session is gone; ask for a new one
  cancelled,           // cancel() was called, or the session was dropped
  device_error,        // the driver failed, and nothing was left to fall back to
  resource_exhausted,  // too large; try a smaller one
  internal,            // clvet's own bug; report it
};

CLVET_API const char* to_string(ErrorCode code);

struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string message;  // one line: what is wrong, why, and the next step where there is one
};

// A value or an error.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  // Only where ok().
  T& value() & { return *get(); }
  const T& value() const& { return *const_cast<Result*>(this)->get(); }
  T&& value() && { return std::move(*get()); }
  T& operator*() & { return *get(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*get()); }
  T* operator->() { return get(); }
  const T* operator->() const { return &value(); }

  // Only where not ok().
  const Error& error() const {
    assert(!ok());
    return *std::get_if<1>(&state_);
  }

 private:
  T* get() {
    assert(ok());
    return std::get_if<0>(&state_);
  }
  std::variant<T, Error> state_;
};

// Nothing, or an error.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  // Only where not ok().
  const Error& error() const {
    assert(!ok());
    return *std::get_if<1>(&state_);
  }

 private:
  std::variant<std::monostate, Error> state_;
};

using Status = Result<void>;

CLVET_ABI_END
