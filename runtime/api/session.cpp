// The public session: who may ask what of a network, from which thread, and when.
#include "clvet/session.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/event.h"
#include "base/result.h"
#include "clvet/placement.h"
#include "clvet/result.h"
#include "clvet/tensor.h"
#include "kernels/combination.h"
#include "probe/report/report.h"
#include "runtime/api/context_impl.h"
#include "runtime/api/guarded.h"
#include "runtime/api/own_process.h"
#include "runtime/api/slots.h"
#include "runtime/api/turns.h"
#include "runtime/api/user_calls.h"
#include "runtime/api/words.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/onnx/reader.h"
#include "runtime/plan/plan.h"
#include "runtime/run/model_file.h"
#include "runtime/run/network_options.h"
#include "runtime/run/open_network.h"
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

}  // namespace

class Session::Impl {
 public:
  static ::clvet::Result<std::shared_ptr<Impl>> open(const std::string& path,
                                                     const SessionOptions& options);
  ~Impl();

  const OwnProcess& process() const { return process_; }
  const std::shared_ptr<Slots>& slots() const { return slots_; }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  Status warm_up() {
    return turns_.now([this] { return compute(false); });
  }
  Status run() {
    return turns_.now([this] { return compute(true); });
  }
  std::future<Status> run_async() {
    return turns_.later([this] { return compute(true); });
  }
  void cancel() { turns_.cancel(); }
  Placement placement() const;

 private:
  explicit Impl(const SessionOptions& options)
      : warnings_("SessionOptions::warning", options.warning) {}
  ::clvet::Result<NetworkOptions> network_options(const SessionOptions& options);
  // Of the values that inputs hold; else of zeros where there are none.
  Status compute(bool keeps_outputs);
  Status answer(bool keeps_outputs);
  void remember();

  const OwnProcess process_;
  Warnings warnings_;
  std::shared_ptr<ContextImpl> context_;  // null: the host alone
  std::shared_ptr<Slots> slots_;
  std::map<std::string, std::string> metadata_;
  std::unique_ptr<OpenNetwork> network_;
  mutable std::mutex placed_;
  Placement placement_;
  Turns turns_;
};

::clvet::Result<NetworkOptions> Session::Impl::network_options(const SessionOptions& options) {
  NetworkOptions words;
  CLVET_ASSIGN_OR_RETURN(words.overrides.precision, precision_named(options.precision));
  CLVET_ASSIGN_OR_RETURN(words.start, start_named(options.start));
  words.sink = [this](const Event& event) { warnings_(event); };
  words.saves_early = true;
  words.cancelled = turns_.stop();
  CLVET_ASSIGN_OR_RETURN(context_, take_options(options, words));
  return words;
}

::clvet::Result<std::shared_ptr<Session::Impl>> Session::Impl::open(const std::string& path,
                                                                    const SessionOptions& options) {
  CLVET_RETURN_IF_ERROR(check_model_file(path));
  std::string key;
  CLVET_ASSIGN_OR_RETURN(Graph graph,
                         read_keyed_onnx(path, options.device == "host" ? nullptr : &key));
  auto impl = of_own_process(new Impl(options));
  CLVET_ASSIGN_OR_RETURN(NetworkOptions words, impl->network_options(options));
  words.model_key = std::move(key);
  impl->slots_ = std::make_shared<Slots>(
      infos_of(graph, graph.inputs), infos_of(graph, graph.outputs),
      [one = impl.get()](const std::string& name) { return one->network_->lend_input(name); });
  impl->metadata_ = std::move(graph.metadata);
  const ::clvet::Report* report = impl->context_ ? impl->context_->report() : nullptr;
  CLVET_ASSIGN_OR_RETURN(impl->network_, open_network(std::move(graph), report, std::move(words)));
  return impl;
}

Session::Impl::~Impl() {
  turns_.close();
  if (!network_) return;
  network_->note();
  network_->save_programs();
}

void Session::Impl::remember() {
  const RunRecord& record = network_->record();
  const auto on_device =
      std::count_if(record.nodes.begin(), record.nodes.end(),
                    [](const NodeRecord& node) { return node.place != Place::kHost; });
  const std::lock_guard lock(placed_);
  placement_ = {record.device,       ::clvet::to_string(record.combination.precision),
                record.warnings,     0,
                record.nodes.size(), static_cast<uint64_t>(on_device)};
}

Placement Session::Impl::placement() const {
  const std::lock_guard lock(placed_);
  Placement now = placement_;
  now.generation = slots_->generation();
  return now;
}

Status Session::Impl::answer(bool keeps_outputs) {
  const Result<Inputs> inputs = slots_->begin_run(!keeps_outputs);
  if (!inputs) return inputs.error();
  const auto outputs = network_->run(*inputs);
  return outputs ? slots_->set_outputs(*outputs, keeps_outputs) : public_error(outputs.error());
}

Status Session::Impl::compute(bool keeps_outputs) {
  const Status done = guarded([&] { return answer(keeps_outputs); });
  remember();
  slots_->end_run();
  if (Status told = warnings_.take_fault(); done && !told) return told;
  return done;
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

template <class Ask>
auto Session::with(Ask&& ask) const -> decltype(ask(*impl_)) {
  return asked_of(impl_, "session", std::forward<Ask>(ask));
}

Result<std::vector<TensorInfo>> Session::inputs() const {
  return with(
      [](Impl& impl) -> Result<std::vector<TensorInfo>> { return impl.slots()->infos(true); });
}

Result<std::vector<TensorInfo>> Session::outputs() const {
  return with(
      [](Impl& impl) -> Result<std::vector<TensorInfo>> { return impl.slots()->infos(false); });
}

Result<std::map<std::string, std::string>> Session::metadata() const {
  return with(
      [](Impl& impl) -> Result<std::map<std::string, std::string>> { return impl.metadata(); });
}

Status Session::resize(const std::map<std::string, Shape>& shapes) {
  return with([&](Impl& impl) { return impl.slots()->resize(shapes); });
}

Status Session::set(const std::map<std::string, Values>& values) {
  return with([&](Impl& impl) { return impl.slots()->set(values); });
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
