#include "tests/fakes/device_info.h"

#include <algorithm>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include "tests/fakes/dispatch.h"
#include "tests/fakes/scenario.h"

namespace fake_cl {
namespace {

using nlohmann::json;

template <class Query, class Object>
std::string text_of(Query query, Object object, cl_uint param) {
  size_t size = 0;
  if (query(object, param, 0, nullptr, &size) != CL_SUCCESS || size == 0) return "";
  std::string text(size, '\0');
  query(object, param, size, text.data(), nullptr);
  text.resize(std::strlen(text.c_str()));
  return text;
}

std::string with_changes(const std::string& extensions) {
  const DeviceChanges& changes = Scenario::instance().device();
  std::vector<std::string> words;
  std::istringstream stream(extensions);
  for (std::string word; stream >> word;) {
    const auto& removed = changes.extensions_remove;
    if (std::find(removed.begin(), removed.end(), word) == removed.end()) words.push_back(word);
  }
  for (const auto& word : changes.extensions_add) {
    if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
  }
  std::string out;
  for (const auto& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

const std::string* change(const char* key) {
  const auto& strings = Scenario::instance().device().strings;
  const auto it = strings.find(key);
  return it == strings.end() ? nullptr : &it->second;
}

std::string terminated(const std::string& text) { return text + '\0'; }

// A scenario's number, array or string in the form of the row of that name.
std::string encoded(InfoRow row, const json& value) {
  if (value.is_string()) {
    row.text = value.get<std::string>();
  } else if (value.is_array()) {
    row.numbers = value.get<std::vector<unsigned long long>>();
  } else {
    row.numbers = {value.get<unsigned long long>()};
  }
  return bytes_of(row);
}

bool extensions_change() {
  const DeviceChanges& changes = Scenario::instance().device();
  return !changes.extensions_add.empty() || !changes.extensions_remove.empty();
}

const char* device_key(cl_device_info param) {
  switch (param) {
    case CL_DEVICE_NAME:
      return "name";
    case CL_DEVICE_VENDOR:
      return "vendor";
    case CL_DEVICE_VERSION:
      return "version";
    case CL_DRIVER_VERSION:
      return "driver_version";
    case CL_DEVICE_OPENCL_C_VERSION:
      return "opencl_c_version";
    default:
      return nullptr;
  }
}

const char* platform_key(cl_platform_info param) {
  switch (param) {
    case CL_PLATFORM_NAME:
      return "platform_name";
    case CL_PLATFORM_VENDOR:
      return "platform_vendor";
    case CL_PLATFORM_VERSION:
      return "platform_version";
    case CL_PLATFORM_EXTENSIONS:
      return "platform_extensions";
    default:
      return nullptr;
  }
}

}  // namespace

std::string bytes_of(const InfoRow& row) {
  std::string out;
  const auto append = [&out](auto number) {
    out.append(reinterpret_cast<const char*>(&number), sizeof number);
  };
  if (row.kind == InfoRow::Kind::kString) return terminated(row.text);
  if (row.kind == InfoRow::Kind::kBytes) return row.text;
  for (const auto number : row.numbers) {
    if (row.kind == InfoRow::Kind::kUint)
      append(static_cast<cl_uint>(number));
    else if (row.kind == InfoRow::Kind::kUlong)
      append(static_cast<cl_ulong>(number));
    else
      append(static_cast<size_t>(number));
  }
  return out;
}

std::string with_versions(const std::string& list) {
  std::string out;
  std::istringstream stream(list);
  for (std::string word; stream >> word;) {
    cl_name_version row{};
    row.version = CL_MAKE_VERSION(1, 0, 0);
    std::memcpy(row.name, word.data(), std::min(word.size(), sizeof row.name - 1));
    out.append(reinterpret_cast<const char*>(&row), sizeof row);
  }
  return out;
}

cl_int answer(const std::string& bytes, size_t size, void* value, size_t* size_ret) {
  if (value && size < bytes.size()) return CL_INVALID_VALUE;
  if (value) std::memcpy(value, bytes.data(), bytes.size());
  if (size_ret) *size_ret = bytes.size();
  return CL_SUCCESS;
}

cl_int changed_device_info(cl_device_id device, cl_device_info param, size_t size, void* value,
                           size_t* size_ret) {
  const auto driver = real<Fn::clGetDeviceInfo>();
  if (const char* key = device_key(param)) {
    if (const std::string* text = change(key))
      return answer(terminated(*text), size, value, size_ret);
  }
  if (extensions_change() && param == CL_DEVICE_EXTENSIONS) {
    const std::string list = with_changes(text_of(driver, device, param));
    return answer(terminated(list), size, value, size_ret);
  }
  if (extensions_change() && param == CL_DEVICE_EXTENSIONS_WITH_VERSION) {
    const std::string list = with_changes(text_of(driver, device, CL_DEVICE_EXTENSIONS));
    return answer(with_versions(list), size, value, size_ret);
  }
  const json& info = Scenario::instance().device().info;
  if (!info.empty()) {
    for (const InfoRow& row : device_rows()) {
      if (row.param != param || !info.contains(row.name)) continue;
      return answer(encoded(row, info.at(row.name)), size, value, size_ret);
    }
  }
  return driver(device, param, size, value, size_ret);
}

cl_int changed_platform_info(cl_platform_id platform, cl_platform_info param, size_t size,
                             void* value, size_t* size_ret) {
  if (const char* key = platform_key(param)) {
    if (const std::string* text = change(key))
      return answer(terminated(*text), size, value, size_ret);
  }
  return real<Fn::clGetPlatformInfo>()(platform, param, size, value, size_ret);
}

}  // namespace fake_cl
