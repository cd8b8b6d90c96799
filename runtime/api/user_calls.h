// The user's own functions: what they throw stays within, and becomes an error of the call.
#pragma once

#include <exception>
#include <functional>
#include <string>
#include <utility>

#include "base/event.h"
#include "clvet/result.h"

namespace clvet::v1 {

class UserCalls {
 public:
  // `name`: of the function, as its user knows it.
  explicit UserCalls(std::string name) : name_(std::move(name)) {}

  // Calls it; not any more once it threw.
  template <class Call>
  void operator()(Call&& call) {
    if (!fault_.empty()) return;
    try {
      std::forward<Call>(call)();
    } catch (const std::exception& fault) {
      fault_ = fault.what();
      if (fault_.empty()) fault_ = "an exception without words";
    } catch (...) {
      fault_ = "something that is no std::exception";
    }
  }
  bool threw() const { return !fault_.empty(); }
  // What it threw since this was asked last.
  Status take_fault() {
    if (fault_.empty()) return {};
    return Error{ErrorCode::invalid_argument, name_ + " threw: " + std::exchange(fault_, {})};
  }

 private:
  std::string name_, fault_;
};

// The user's function for warnings.
class Warnings {
 public:
  Warnings(std::string name, std::function<void(const std::string&)> say)
      : calls_(std::move(name)), say_(std::move(say)) {}
  void operator()(const Event& event) {
    if (say_ && event.level == EventLevel::kWarning) calls_([&] { say_(event.text); });
  }
  Status take_fault() { return calls_.take_fault(); }

 private:
  UserCalls calls_;
  std::function<void(const std::string&)> say_;
};

}  // namespace clvet::v1
