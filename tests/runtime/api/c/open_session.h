// What tests of the C functions share.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "clvet/clvet_c.h"

namespace clvet::test {

template <auto free>
struct Freed {
  template <class T>
  void operator()(T* handle) const {
    free(handle);
  }
};
using CSession = std::unique_ptr<clvet_session, Freed<clvet_session_free>>;
using CMapping = std::unique_ptr<clvet_mapping, Freed<clvet_mapping_free>>;
using CPending = std::unique_ptr<clvet_pending, Freed<clvet_pending_free>>;
using CTensors = std::unique_ptr<clvet_tensor_list, Freed<clvet_tensor_list_free>>;
using CPlacement = std::unique_ptr<clvet_placement, Freed<clvet_placement_free>>;

// A file on the host.
inline CSession open_on_host(const std::string& file) {
  clvet_session_options options;
  CLVET_INIT(options);
  options.device = "host";
  clvet_session* session = nullptr;
  clvet_session_open(file.c_str(), &options, &session);
  return CSession(session);
}

inline CMapping map(const CSession& session, const char* name, clvet_access access) {
  clvet_mapping* mapping = nullptr;
  clvet_session_map(session.get(), name, access, &mapping);
  return CMapping(mapping);
}

// The values of the doubling network's inputs, and how often each was released.
struct DoublingInputs {
  std::vector<float> x = {1, 2, 3, 4};
  std::vector<int64_t> n = {5, 6};
  std::vector<int64_t> x_shape = {2, 2}, n_shape = {2};
  int x_released = 0, n_released = 0;
  std::vector<clvet_values> values = {
      {{"x", CLVET_F32, 2, x_shape.data()}, x.data(), x.size() * sizeof(float), count, &x_released},
      {{"n", CLVET_I64, 1, n_shape.data()},
       n.data(),
       n.size() * sizeof(int64_t),
       count,
       &n_released}};

  DoublingInputs() = default;
  DoublingInputs(const DoublingInputs&) = delete;
  DoublingInputs& operator=(const DoublingInputs&) = delete;
  static void count(void* user) { ++*static_cast<int*>(user); }
};

}  // namespace clvet::test
