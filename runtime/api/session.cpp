// The public session: who may ask what of a network, from which thread, and when.
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/event.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/result.h"
#include "clvet/result.h"
#include "clvet/session.h"
#include "clvet/tensor.h"
#include "kernels/combination.h"
#include "probe/report/report.h"
#include "runtime/api/guarded.h"
#include "runtime/api/report_choice.h"
#include "runtime/api/slots.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/onnx/reader.h"
#include "runtime/run/network_session.h"
#include "runtime/run/run_record.h"

namespace clvet::v1 {
namespace {

using Inputs = std::map<std::string, ::clvet::Tensor>;

TensorInfo info_of(const Graph& graph, ValueId id) {
  const Value& value = graph.values[static_cast<size_t>(id)];
  return {value.name, static_cast<DataType>(value.dtype.value_or(DType::kF32)),
          value.shape.value_or(Shape{})};
}

std::vector<TensorInfo> infos_of(const Graph& graph, const std::vector<ValueId>& ids) {
  std::vector<TensorInfo> infos;
  for (const ValueId id : ids) infos.push_back(info_of(graph, id));
  return infos;
}

::clvet::Result<std::optional<Precision>> precision_named(const std::string& name) {
  for (const Precision one : {Precision::kLow, Precision::kNormal, Precision::kHigh})
    if (name == ::clvet::to_string(one)) return one;
  if (name == "auto") return std::nullopt;
  return fail(::clvet::ErrorCode::kInvalidArgument,
              "there is no precision '{}': it is auto, low, normal or high", name);
}

// What the user's own function throws stays within, and becomes an error of the call.
class Warnings {
 public:
  explicit Warnings(std::function<void(const std::string&)> say) : say_(std::move(say)) {}
  void operator()(const Event& event) {
    if (!say_ || event.level != EventLevel::kWarning || !fault_.empty()) return;
    try {
      say_(event.text);
    } catch (const std::exception& fault) {
      fault_ = fault.what();
    } catch (...) {
      fault_ = "something that is no std::exception";
    }
  }
  Status take_fault() {
    if (fault_.empty()) return {};
    return Error{ErrorCode::invalid_argument,
                 "SessionOptions::warning threw: " + std::exchange(fault_, {})};
  }

 private:
  std::function<void(const std::string&)> say_;
  std::string fault_;
};

}  // namespace

class Session::Impl {
 public:
  static ::clvet::Result<std::shared_ptr<Impl>> open(const std::string& path,
                                                     const SessionOptions& options);
  ~Impl();

  Status check_process() const;
  const std::shared_ptr<Slots>& slots() const { return slots_; }
  Status warm_up();
  Status run();
  std::future<Status> run_async();
  void cancel();
  Placement placement() const;

 private:
  struct Job {
    uint64_t ticket = 0;
    std::promise<Status> done;
  };
  using Compute = std::function<Status()>;

  explicit Impl(const SessionOptions& options)
      : warnings_(std::make_shared<Warnings>(options.warning)) {}
  uint64_t take_ticket();
  Status compute(uint64_t ticket, const Compute& work);
  Status run_now();
  Status warm_up_now();
  void serve();
  void remember();

  const pid_t process_ = ::getpid();
  std::shared_ptr<Warnings> warnings_;
  std::optional<Report> report_;
  std::shared_ptr<Slots> slots_;
  std::unique_ptr<NetworkSession> network_;
  std::shared_ptr<std::atomic<bool>> stop_ = std::make_shared<std::atomic<bool>>(false);

  std::mutex computing_;  // one computes at a time
  mutable std::mutex state_;
  std::condition_variable asked_;
  std::deque<Job> jobs_;
  uint64_t tickets_ = 0, cancelled_ = 0;  // runs up to the latter are cancelled
  bool closing_ = false;
  std::thread worker_;
  Placement placement_;
};

::clvet::Result<std::shared_ptr<Session::Impl>> Session::Impl::open(const std::string& path,
                                                                    const SessionOptions& options) {
  CLVET_ASSIGN_OR_RETURN(Graph graph, read_onnx(path));
  // In a child process the thread, the locks and the driver are the parent's: all stays.
  const std::shared_ptr<Impl> impl(new Impl(options), [](Impl* one) {
    if (one->check_process()) delete one;
  });
  NetworkOptions words;
  words.device = options.device;
  words.strict = options.strict;
  CLVET_ASSIGN_OR_RETURN(words.overrides.precision, precision_named(options.precision));
  words.sink = [warnings = impl->warnings_](const Event& event) { (*warnings)(event); };
  words.cancelled = impl->stop_;
  if (options.device != "host") {
    words.state_dir = options.state_dir.empty() ? state_dir() : options.state_dir;
    CLVET_RETURN_IF_ERROR(check_private(words.state_dir));
    CLVET_ASSIGN_OR_RETURN(words.model_key, sha256_of_file(path));
    CLVET_ASSIGN_OR_RETURN(ReportChoice chosen, choose_report(options.report, words.state_dir));
    if (!chosen.report) words.sink({EventLevel::kWarning, chosen.why_not});
    impl->report_ = std::move(chosen.report);
  }
  impl->slots_ =
      std::make_shared<Slots>(infos_of(graph, graph.inputs), infos_of(graph, graph.outputs));
  CLVET_ASSIGN_OR_RETURN(
      impl->network_,
      NetworkSession::open(std::move(graph), impl->report_ ? &*impl->report_ : nullptr, words));
  return impl;
}

Session::Impl::~Impl() {
  {
    const std::lock_guard lock(state_);
    closing_ = true;
  }
  cancel();
  asked_.notify_all();
  if (worker_.joinable()) worker_.join();
  const std::lock_guard lock(computing_);
  if (network_) network_->note();
}

Status Session::Impl::check_process() const {
  if (::getpid() == process_) return {};
  return Error{ErrorCode::unavailable,
               fmt::format("the session belongs to process {}: after fork(), open one in the child",
                           process_)};
}

uint64_t Session::Impl::take_ticket() {
  const std::lock_guard lock(state_);
  return ++tickets_;
}

Status Session::Impl::compute(uint64_t ticket, const Compute& work) {
  const std::lock_guard computing(computing_);
  {
    const std::lock_guard lock(state_);
    if (ticket <= cancelled_) return Error{ErrorCode::cancelled, "the run was cancelled"};
    *stop_ = false;
  }
  Status done = guarded(work);
  slots_->end_run();
  remember();
  if (Status told = warnings_->take_fault(); done && !told) return told;
  return done;
}

void Session::Impl::remember() {
  const RunRecord& record = network_->record();
  const std::lock_guard lock(state_);
  placement_ = {record.device, ::clvet::to_string(record.combination.precision), record.warnings,
                0};
}

Placement Session::Impl::placement() const {
  const std::lock_guard lock(state_);
  Placement now = placement_;
  now.generation = slots_->generation();
  return now;
}

Status Session::Impl::run_now() {
  const Result<Inputs> inputs = slots_->begin_run();
  if (!inputs) return inputs.error();
  const auto outputs = network_->run(*inputs);
  if (!outputs) return public_error(outputs.error());
  slots_->set_outputs(*outputs, true);
  return {};
}

Status Session::Impl::warm_up_now() {
  const Result<Inputs> inputs = slots_->begin_warm_up();
  if (!inputs) return inputs.error();
  const auto outputs = network_->run(*inputs);
  if (!outputs) return public_error(outputs.error());
  slots_->set_outputs(*outputs, false);
  return {};
}

Status Session::Impl::warm_up() {
  return compute(take_ticket(), [this] { return warm_up_now(); });
}

Status Session::Impl::run() {
  return compute(take_ticket(), [this] { return run_now(); });
}

std::future<Status> Session::Impl::run_async() {
  Job job{take_ticket(), {}};
  std::future<Status> done = job.done.get_future();
  const std::lock_guard lock(state_);
  jobs_.push_back(std::move(job));
  if (!worker_.joinable()) worker_ = std::thread([this] { serve(); });
  asked_.notify_one();
  return done;
}

void Session::Impl::serve() {
  for (;;) {
    std::unique_lock lock(state_);
    asked_.wait(lock, [this] { return closing_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job.done.set_value(compute(job.ticket, [this] { return run_now(); }));
  }
}

void Session::Impl::cancel() {
  const std::lock_guard lock(state_);
  cancelled_ = tickets_;
  *stop_ = true;
}

Session::Session(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

Result<Session> Session::open(const std::string& path, const SessionOptions& options) {
  return guarded([&]() -> Result<Session> {
    auto impl = Impl::open(path, options);
    if (!impl) return public_error(impl.error());
    return Session(std::move(*impl));
  });
}

// What `ask` gives of a session that is there, and of this process.
template <class Ask>
auto Session::with(Ask&& ask) const -> decltype(ask(*impl_)) {
  if (!impl_) return Error{ErrorCode::stale, "this session was moved from: use the one it went to"};
  if (const Status own = impl_->check_process(); !own) return own.error();
  return guarded([&] { return ask(*impl_); });
}

Result<std::vector<TensorInfo>> Session::inputs() const {
  return with(
      [](Impl& impl) -> Result<std::vector<TensorInfo>> { return impl.slots()->infos(true); });
}

Result<std::vector<TensorInfo>> Session::outputs() const {
  return with(
      [](Impl& impl) -> Result<std::vector<TensorInfo>> { return impl.slots()->infos(false); });
}

Status Session::resize(const std::map<std::string, Shape>& shapes) {
  return with([&](Impl& impl) { return impl.slots()->resize(shapes); });
}

Result<Mapping> Session::map(const std::string& name, Access access) {
  return with(
      [&](Impl& impl) -> Result<Mapping> { return Mapping::of(impl.slots(), name, access); });
}

Status Session::warm_up() {
  return with([](Impl& impl) { return impl.warm_up(); });
}

Status Session::run() {
  return with([](Impl& impl) { return impl.run(); });
}

std::future<Status> Session::run_async() {
  std::future<Status> done;
  const Status asked = with([&](Impl& impl) -> Status {
    done = impl.run_async();
    return {};
  });
  if (asked) return done;
  std::promise<Status> refused;
  refused.set_value(asked);
  return refused.get_future();
}

void Session::cancel() {
  static_cast<void>(with([](Impl& impl) -> Status {
    impl.cancel();
    return {};
  }));
}

Result<Placement> Session::placement() const {
  return with([](Impl& impl) -> Result<Placement> { return impl.placement(); });
}

}  // namespace clvet::v1
