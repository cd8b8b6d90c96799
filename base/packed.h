// Values one behind the other in a text, as they lie in memory.
#pragma once

#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

namespace clvet {

template <class T>
void put_packed(const T& value, std::string& text) {
  static_assert(std::is_trivially_copyable_v<T>);
  text.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// Takes it from the front of `text`; false, and nothing changed, where that is too short.
template <class T>
bool take_packed(std::string_view& text, T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (text.size() < sizeof value) return false;
  std::memcpy(&value, text.data(), sizeof value);
  text.remove_prefix(sizeof value);
  return true;
}

}  // namespace clvet
