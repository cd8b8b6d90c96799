#include "runtime/api/c/tensors.h"

#include <fmt/format.h>

#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "clvet/clvet_c.h"
#include "clvet/result.h"
#include "clvet/tensor.h"
#include "runtime/api/c/call.h"
#include "runtime/api/c/handles.h"  // IWYU pragma: keep

namespace clvet::v1::c {
namespace {

constexpr size_t kMostAxes = 64;

static_assert(static_cast<int>(DataType::f32) == CLVET_F32 &&
              static_cast<int>(DataType::i8) == CLVET_I8 &&
              static_cast<int>(DataType::u8) == CLVET_U8 &&
              static_cast<int>(DataType::boolean) == CLVET_BOOL &&
              static_cast<int>(DataType::bf16) == CLVET_BF16);

}  // namespace

clvet_tensor_info info_of(const TensorInfo& info) {
  return {info.name.c_str(), static_cast<clvet_data_type>(info.type), info.shape.size(),
          info.shape.data()};
}

Result<DataType> type_of(clvet_data_type type) {
  if (type < CLVET_F32 || type > CLVET_BF16)
    return invalid(fmt::format("there is no data type {}", type));
  return static_cast<DataType>(type);
}

Result<Shape> shape_of(const clvet_tensor_info& info) {
  if (!info.name) return invalid("the name of a tensor is null");
  if (info.rank > kMostAxes)
    return invalid(fmt::format("'{}' cannot have {} axes", info.name, info.rank));
  if (info.rank > 0 && !info.shape)
    return invalid(
        fmt::format("the shape of '{}' is null, and not of {} axes", info.name, info.rank));
  return Shape(info.shape, info.shape + info.rank);
}

Result<std::map<std::string, Shape>> shapes_of(const clvet_tensor_info* infos, size_t count) {
  if (const Status there = check_array("shapes", infos, count); !there) return there.error();
  std::map<std::string, Shape> shapes;
  for (size_t i = 0; i < count; ++i) {
    Result<Shape> shape = shape_of(infos[i]);
    if (!shape) return shape.error();
    if (!shapes.emplace(infos[i].name, std::move(*shape)).second)
      return invalid(fmt::format("'{}' is named twice", infos[i].name));
  }
  return shapes;
}

}  // namespace clvet::v1::c

using clvet::v1::Status;
using namespace clvet::v1::c;

const char* clvet_data_type_name(clvet_data_type type) {
  if (type < CLVET_F32 || type > CLVET_BF16) return "unknown type";
  return to_string(static_cast<clvet::v1::DataType>(type));
}

size_t clvet_data_type_size(clvet_data_type type) {
  if (type < CLVET_F32 || type > CLVET_BF16) return 0;
  return size_of(static_cast<clvet::v1::DataType>(type));
}

size_t clvet_tensor_list_size(const clvet_tensor_list* list) {
  return list ? list->infos.size() : 0;
}

clvet_code clvet_tensor_list_get(const clvet_tensor_list* list, size_t index,
                                 clvet_tensor_info* out) {
  clear(out);
  return call(__func__, {{"list", list}, {"out", out}}, [&]() -> Status {
    if (index >= list->infos.size())
      return invalid(
          fmt::format("there is no tensor {} in a list of {}", index, list->infos.size()));
    *out = info_of(list->infos[index]);
    return {};
  });
}

void clvet_tensor_list_free(clvet_tensor_list* list) { delete list; }
