#include "tests/support.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <ios>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace clvet::test {

TempDir::TempDir() {
  std::string name = testing::TempDir() + "clvet-test-XXXXXX";
  path_ = ::mkdtemp(name.data());
}

TempDir::~TempDir() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TempDir::operator/(std::string_view name) const {
  return path_ + "/" + std::string(name);
}

void put(const std::string& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::string get(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

size_t count(std::string_view text, std::string_view word) {
  size_t found = 0;
  for (size_t at = 0; (at = text.find(word, at)) != text.npos; at += word.size()) ++found;
  return found;
}

std::optional<std::string> pocl_library() {
  for (const char* folder :
       {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"}) {
    const std::string path = std::string(folder) + "/libpocl.so.2";
    if (std::filesystem::exists(path)) return path;
  }
  return std::nullopt;
}

ScopedVariable::ScopedVariable(const char* name, const std::string& value) : name_(name) {
  if (const char* old = ::getenv(name)) old_ = old;
  ::setenv(name, value.c_str(), 1);
}

ScopedVariable::~ScopedVariable() {
  if (old_) {
    ::setenv(name_.c_str(), old_->c_str(), 1);
  } else {
    ::unsetenv(name_.c_str());
  }
}

}  // namespace clvet::test
