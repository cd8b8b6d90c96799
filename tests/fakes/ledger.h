// What the application holds of the driver: objects of each kind, and bytes of memory objects.
//
// The figures lie in the file that FAKE_CL_LEDGER names, which any process may map and read at any
// time; without the variable nothing is counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "tests/fakes/dispatch.h"
#include "tests/fakes/ledger_page.h"

namespace fake_cl {

class Ledger {
 public:
  // Null where nobody wants it.
  static Ledger* instance();

  template <Fn F, class R, class... A>
  void note(R result, A... args) {
    constexpr std::string_view name = Api<F>::name;
    if constexpr (kind_of<R>() < kLedgerKinds) {
      if (result) made(kind_of<R>(), result);
    } else if constexpr (std::is_same_v<R, cl_int> && sizeof...(A) > 0) {
      if (result != CL_SUCCESS) return;
      if constexpr (name.starts_with("clRetain")) retained(std::get<0>(std::tuple<A...>(args...)));
      if constexpr (name.starts_with("clRelease")) released(std::get<0>(std::tuple<A...>(args...)));
      if constexpr (name.starts_with("clEnqueue")) note_event(args...);
      if constexpr (F == Fn::clCreateKernelsInProgram) note_kernels(args...);
    }
  }

 private:
  struct Held {
    size_t kind = 0;
    int64_t count = 1, bytes = 0;
  };
  template <class T>
  static constexpr size_t kind_of() {
    if (std::is_same_v<T, cl_context>) return kLedgerContexts;
    if (std::is_same_v<T, cl_command_queue>) return kLedgerQueues;
    if (std::is_same_v<T, cl_mem>) return kLedgerMemory;
    if (std::is_same_v<T, cl_program>) return kLedgerPrograms;
    if (std::is_same_v<T, cl_kernel>) return kLedgerKernels;
    if (std::is_same_v<T, cl_event>) return kLedgerEvents;
    if (std::is_same_v<T, cl_sampler>) return kLedgerSamplers;
    return kLedgerKinds;
  }
  template <class... A>
  void note_event(A... args) {
    auto last = std::get<sizeof...(A) - 1>(std::tuple<A...>(args...));
    if constexpr (std::is_same_v<decltype(last), cl_event*>) {
      if (last && *last) made(kLedgerEvents, *last);
    }
  }
  void note_kernels(cl_program, cl_uint room, cl_kernel* kernels, cl_uint* count);
  explicit Ledger(LedgerPage& page) : page_(page) {}
  void made(size_t kind, const void* object);
  void retained(const void* object);
  void released(const void* object);

  LedgerPage& page_;
  std::mutex mutex_;
  std::map<const void*, Held> held_;
};

}  // namespace fake_cl
