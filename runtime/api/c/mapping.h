// What a mapping shows, as bytes.
#pragma once

#include <cstddef>
#include <span>

#include "clvet/result.h"
#include "clvet/tensor.h"

namespace clvet::v1::c {

// Errors: invalid_argument, where `type` is not the tensor's; stale, where the mapping has ended.
Result<std::span<const std::byte>> values_of(const Mapping& mapping, DataType type);

}  // namespace clvet::v1::c
