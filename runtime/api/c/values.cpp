#include "runtime/api/c/values.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "clvet/clvet_c.h"
#include "clvet/result.h"
#include "clvet/session.h"
#include "clvet/tensor.h"
#include "runtime/api/c/call.h"
#include "runtime/api/c/handles.h"  // IWYU pragma: keep
#include "runtime/api/c/tensors.h"

namespace clvet::v1::c {
namespace {

// A fault of the caller's own function has no call left to be told by.
void release(const clvet_values& values) noexcept {
  try {
    if (values.release) values.release(values.user);
  } catch (...) {
  }
}

Result<size_t> bytes_of(const char* name, DataType type, const Shape& shape) {
  size_t bytes = size_of(type);
  for (const int64_t size : shape) {
    if (size < 0)
      return invalid(fmt::format("an axis of '{}' is {}: it needs 0 or more elements", name, size));
    if (__builtin_mul_overflow(bytes, static_cast<size_t>(size), &bytes))
      return invalid(fmt::format("the shape of '{}' has more elements than can be counted", name));
  }
  return bytes;
}

Result<Values> checked(const clvet_values& given) {
  Result<Shape> shape = shape_of(given.info);
  if (!shape) return shape.error();
  const auto type = type_of(given.info.type);
  if (!type) return invalid(fmt::format("'{}': {}", given.info.name, type.error().message));
  const auto bytes = bytes_of(given.info.name, *type, *shape);
  if (!bytes) return bytes.error();
  if (*bytes != given.bytes)
    return invalid(fmt::format("'{}' has {} bytes of data, and its type and shape need {}",
                               given.info.name, given.bytes, *bytes));
  if (*bytes > 0 && !given.data)
    return invalid(fmt::format("the data of '{}' is null", given.info.name));
  return Values{*type, std::move(*shape), {}};
}

}  // namespace

Given::Given(const clvet_values* values, size_t count)
    : there_(check_array("values", values, count)),
      next_(values),
      end_(there_ && values ? values + count : values) {}

Given::~Given() {
  while (next_ != end_) release(*next_++);
}

const clvet_values* Given::next() const { return next_ == end_ ? nullptr : next_; }

std::shared_ptr<const void> Given::take() {
  const clvet_values values = *next_++;
  // Also releases where there is no memory for the pointer itself.
  return {values.data, [values](const void*) { release(values); }};
}

Status Given::set_in(Session& session) {
  if (!there_) return there_.error();
  std::map<std::string, Values> values;
  while (const clvet_values* next = this->next()) {
    const std::string name = text_or(next->info.name);
    Result<Values> one = checked(*next);
    auto data = take();
    if (!one) return one.error();
    one->data = std::move(data);
    if (!values.emplace(name, std::move(*one)).second)
      return invalid(fmt::format("'{}' is named twice", name));
  }
  return session.set(values);
}

}  // namespace clvet::v1::c

using namespace clvet::v1::c;

clvet_code clvet_session_set(clvet_session* session, const clvet_values* values, size_t count) {
  Given given(values, count);
  return call(__func__, {{"session", session}}, [&] { return given.set_in(session->session); });
}
