#include "tests/fakes/hooks.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "tests/fakes/actions.h"
#include "tests/fakes/binaries.h"
#include "tests/fakes/corrupt.h"
#include "tests/fakes/dispatch.h"
#include "tests/fakes/ledger.h"
#include "tests/fakes/observe.h"
#include "tests/fakes/scenario.h"
#include "tests/fakes/stale.h"

namespace fake_cl {
namespace {

// Drivers may call through their own table; such inner calls are none of the application's.
thread_local int g_depth = 0;
struct Depth {
  Depth() { ++g_depth; }
  ~Depth() { --g_depth; }
};

template <class T>
constexpr bool is_object =
    std::is_same_v<T, cl_context> || std::is_same_v<T, cl_command_queue> ||
    std::is_same_v<T, cl_mem> || std::is_same_v<T, cl_program> || std::is_same_v<T, cl_kernel> ||
    std::is_same_v<T, cl_event> || std::is_same_v<T, cl_sampler> || std::is_same_v<T, cl_device_id>;

template <class T>
cl_command_queue as_queue(T value) {
  if constexpr (std::is_same_v<T, cl_command_queue>)
    return value;
  else
    return nullptr;
}

// A driver that pretends success still owes the event.
template <class T>
void fill_event(cl_command_queue queue, T value) {
  if constexpr (std::is_same_v<T, cl_event*>) {
    const auto marker = real<Fn::clEnqueueMarkerWithWaitList>();
    if (queue && value && marker) marker(queue, 0, nullptr, value);
  }
}

template <class R, class... A>
R fail(cl_int code, A... args) {
  if constexpr (std::is_same_v<R, cl_int>) {
    return code;
  } else if constexpr (!std::is_void_v<R>) {
    auto last = std::get<sizeof...(A) - 1>(std::tuple<A...>(args...));
    if constexpr (std::is_same_v<decltype(last), cl_int*>) {
      if (last) *last = code;
    }
    return R{};
  }
}

template <class... A>
void notify_build(A... args) {
  using Notify = void(CL_CALLBACK*)(cl_program, void*);
  const auto all = std::tuple<A...>(args...);
  constexpr size_t kCount = sizeof...(A);
  if constexpr (kCount >= 2 &&
                std::is_same_v<std::tuple_element_t<0, std::tuple<A...>>, cl_program>) {
    if constexpr (std::is_same_v<std::tuple_element_t<kCount - 2, std::tuple<A...>>, Notify>) {
      if (auto notify = std::get<kCount - 2>(all))
        notify(std::get<0>(all), std::get<kCount - 1>(all));
    }
  }
}

template <Fn F>
constexpr bool is_build = F == Fn::clBuildProgram || F == Fn::clCompileProgram;

// The log that a build_error or build_log rule leaves.
void leave_log(const Rule& rule, cl_program program, cl_build_status status) {
  const auto& p = rule.parameters;
  std::string log = p.value("log", "error: internal compiler error\n");
  std::string repeated;
  for (uint64_t n = p.value("log_repeat", uint64_t{1}); n > 0; --n) repeated += log;
  std::optional<size_t> claimed;
  if (p.contains("log_claim")) claimed = p.at("log_claim").get<size_t>();
  Tracker::instance().set_log(program, repeated, claimed, status);
}

// The result that a rule dictates instead of the driver's; nullopt if the call goes on.
template <Fn F, class R, class First, class... A>
std::optional<cl_int> dictated(const Rule& rule, First first, A... args) {
  const std::string& action = rule.action;
  if (action == "error") return error_code(rule, CL_OUT_OF_RESOURCES);
  if (action == "null_success" && std::is_pointer_v<R>) {
    (fill_event(as_queue(first), args), ...);
    return CL_SUCCESS;
  }
  if (action == "skip") {
    (fill_event(as_queue(first), args), ...);
    return CL_SUCCESS;
  }
  if constexpr (is_build<F>) {
    if (action == "build_error") {
      leave_log(rule, first, CL_BUILD_ERROR);
      notify_build(first, args...);
      return error_code(rule, CL_BUILD_PROGRAM_FAILURE);
    }
  }
  return std::nullopt;
}

bool fires_after(const Rule& rule) {
  return rule.parameters.value("when", "") == std::string("after");
}

template <Fn F, class First, class... A>
void afterwards(const std::vector<const Rule*>& rules, First first, A...) {
  const cl_kernel kernel = rules.empty() ? nullptr : Tracker::instance().last_enqueued();
  for (const Rule* rule : rules) {
    if (as_queue(first) && kernel) corrupt_outputs(*rule, as_queue(first), kernel);
    if constexpr (is_build<F>) {
      if (rule->action == "build_log") leave_log(*rule, first, CL_BUILD_SUCCESS);
    }
    if (fires_after(*rule)) disturb_process(*rule);
  }
}

template <Fn F, class R, class... A>
R guarded(A... args) {
  if (!real<F>()) return fail<R>(CL_INVALID_OPERATION, args...);
  if (g_depth > 0) return real<F>()(args...);
  const Depth depth;
  const Scenario& scenario = Scenario::instance();
  std::vector<const Rule*> rules;
  const bool mentioned = scenario.mentions(Api<F>::name);
  if (mentioned || is_build<F> || F == Fn::clEnqueueNDRangeKernel || F == Fn::clEnqueueTask) {
    const Subject subject = describe(Tag<F>{}, args...);
    if (mentioned) rules = scenario.fire(Api<F>::name, subject);
  }
  for (const Rule* rule : rules) {
    if (!fires_after(*rule) && disturb_process(*rule)) continue;
    if constexpr (sizeof...(A) > 0) {
      if (const auto code = dictated<F, R>(*rule, args...)) return fail<R>(*code, args...);
    }
  }
  if constexpr (std::is_void_v<R>) {
    invoke(Tag<F>{}, args...);
    afterwards<F>(rules, args...);
  } else {
    R result = invoke(Tag<F>{}, args...);
    if constexpr (is_object<R>) patch_table_of(result);
    observe(Tag<F>{}, result, args...);
    if (Ledger* ledger = Ledger::instance()) ledger->note<F, R>(result, args...);
    if constexpr (sizeof...(A) > 0) afterwards<F>(rules, args...);
    return restage(Tag<F>{}, rules, result, args...);
  }
}

Table make_hooks() {
  Table table{};
#define FAKE_CL_API(ret, name, params, args) \
  table[Api<Fn::name>::slot] = reinterpret_cast<void*>(&hooked_##name);
#include "tests/fakes/api.inc"
#undef FAKE_CL_API
  return table;
}

}  // namespace

#define FAKE_CL_API(ret, name, params, args) \
  ret CL_API_CALL hooked_##name params { return guarded<Fn::name, ret> args; }
#include "tests/fakes/api.inc"
#undef FAKE_CL_API

const Table& hook_table() {
  static const Table table = make_hooks();
  return table;
}

}  // namespace fake_cl
