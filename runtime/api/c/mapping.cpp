#include "runtime/api/c/mapping.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "clvet/clvet_c.h"
#include "clvet/result.h"
#include "clvet/session.h"
#include "clvet/tensor.h"
#include "runtime/api/c/call.h"
#include "runtime/api/c/handles.h"  // IWYU pragma: keep
#include "runtime/api/c/tensors.h"

namespace clvet::v1::c {
namespace {

using View = Result<std::span<const std::byte>> (*)(const Mapping& mapping);

template <class T>
Result<std::span<const std::byte>> view(const Mapping& mapping) {
  if (mapping.access() == Access::write) {
    const auto values = mapping.as<T>();
    if (!values) return values.error();
    return std::as_bytes(*values);
  }
  const auto values = mapping.as<const T>();
  if (!values) return values.error();
  return std::as_bytes(*values);
}

// By data type.
template <class... T>
constexpr std::array<View, sizeof...(T)> views_of() {
  std::array<View, sizeof...(T)> views{};
  ((views[static_cast<size_t>(DataTypeOf<T>::value)] = view<T>), ...);
  return views;
}

constexpr auto kViews = views_of<float, double, Half, int8_t, int16_t, int32_t, int64_t, uint8_t,
                                 uint16_t, uint32_t, uint64_t, bool, Bfloat>();
static_assert(kViews.size() == CLVET_BF16 + 1);

Result<Access> access_of(clvet_access access) {
  if (access == CLVET_READ) return Access::read;
  if (access == CLVET_WRITE) return Access::write;
  return invalid("an access is CLVET_READ or CLVET_WRITE");
}

}  // namespace

Result<std::span<const std::byte>> values_of(const Mapping& mapping, DataType type) {
  return kViews[static_cast<size_t>(type)](mapping);
}

}  // namespace clvet::v1::c

using namespace clvet::v1::c;
using clvet::v1::Status;

clvet_code clvet_session_map(clvet_session* session, const char* name, clvet_access access,
                             clvet_mapping** out) {
  clear(out);
  return call(__func__, {{"session", session}, {"name", name}, {"out", out}}, [&]() -> Status {
    const auto wanted = access_of(access);
    if (!wanted) return wanted.error();
    return give(out, session->session.map(name, *wanted));
  });
}

clvet_code clvet_mapping_info(const clvet_mapping* mapping, clvet_tensor_info* out) {
  clear(out);
  return call(__func__, {{"mapping", mapping}, {"out", out}}, [&]() -> Status {
    *out = info_of(mapping->mapping.info());
    return {};
  });
}

clvet_code clvet_mapping_data(const clvet_mapping* mapping, clvet_data_type type, void** data,
                              size_t* bytes) {
  clear(data);
  clear(bytes);
  return call(__func__, {{"mapping", mapping}, {"data", data}, {"bytes", bytes}}, [&]() -> Status {
    const auto known = type_of(type);
    if (!known) return known.error();
    const auto values = values_of(mapping->mapping, *known);
    if (!values) return values.error();
    *data = const_cast<std::byte*>(values->data());
    *bytes = values->size();
    return {};
  });
}

clvet_code clvet_mapping_unmap(clvet_mapping* mapping) {
  return call(__func__, {{"mapping", mapping}}, [&] { return mapping->mapping.unmap(); });
}

void clvet_mapping_free(clvet_mapping* mapping) { delete mapping; }
