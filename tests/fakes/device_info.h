// Rows of clGetDeviceInfo: names for scenarios, answers of the built-in device, changes of a
// scenario.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tests/fakes/dispatch.h"  // IWYU pragma: keep

namespace fake_cl {

struct InfoRow {
  enum class Kind { kUint, kUlong, kSize, kSizes, kString, kBytes };
  const char* name;
  cl_device_info param;
  Kind kind;
  std::vector<unsigned long long> numbers;
  std::string text;
};

const std::vector<InfoRow>& device_rows();
// The bytes that the query returns.
std::string bytes_of(const InfoRow& row);
// The cl_name_version array for a blank-separated list.
std::string with_versions(const std::string& list);
// Answers a query from bytes, by the rules of clGet*Info.
cl_int answer(const std::string& bytes, size_t size, void* value, size_t* size_ret);

// The driver's answers with the scenario's changes applied.
cl_int changed_device_info(cl_device_id device, cl_device_info param, size_t size, void* value,
                           size_t* size_ret);
cl_int changed_platform_info(cl_platform_id platform, cl_platform_info param, size_t size,
                             void* value, size_t* size_ret);

}  // namespace fake_cl
