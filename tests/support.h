// What tests of several layers share: a folder of their own, variables set for a while.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace clvet::test {

// A fresh folder, removed at the end of its life.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  const std::string& path() const { return path_; }
  std::string operator/(std::string_view name) const;

 private:
  std::string path_;
};

// Writes a file; what was there is lost.
void put(const std::string& path, std::string_view text);

// What a file holds; empty where there is none.
std::string get(const std::string& path);

// How often `word`, which is not empty, stands in `text`.
size_t count(std::string_view text, std::string_view word);

// The library of a real driver, or nullopt where it is not installed.
std::optional<std::string> pocl_library();

// Sets a variable of this process, and puts back what was there.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const std::string& value);
  ~ScopedVariable();
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;

 private:
  std::string name_;
  std::optional<std::string> old_;
};

}  // namespace clvet::test
