#include "probe/worker/supervisor.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "base/memory.h"
#include "base/result.h"
#include "base/text.h"
#include "probe/process/process.h"
#include "probe/process/stage_page.h"
#include "probe/worker/protocol.h"
#include "probe/worker/worker_limits.h"

namespace clvet {

std::atomic<bool> interrupt_requested{false};

namespace {

constexpr int kTickMs = 20;
constexpr double kReapSeconds = 5;
// Below this share of a CPU a worker counts as waiting, above it as working.
constexpr double kBusyShare = 0.1;
// Fewer pages than these touched within a spin clock are none.
constexpr uint64_t kFewFaults = 16;

std::mutex live_mutex;
std::vector<pid_t> live_workers;

// Under one lock with the sweep, which would else take a worker just started for an orphan.
Result<pid_t> spawn_and_remember(const SpawnRequest& request) {
  const std::lock_guard lock(live_mutex);
  const auto pid = spawn(request);
  if (pid) live_workers.push_back(*pid);
  return pid;
}

std::vector<pid_t> workers_besides(pid_t pid) {
  const std::lock_guard lock(live_mutex);
  std::vector<pid_t> others = live_workers;
  std::erase(others, pid);
  return others;
}

// What a worker says of its driver's memory is read often, what its children hold now and then: for
// that all processes are looked through.
constexpr double kFamilySeconds = 0.2;

void forget_and_sweep(pid_t pid) {
  const std::lock_guard lock(live_mutex);
  std::erase(live_workers, pid);
  sweep_orphans(live_workers);
}

// The first and the last `limit` bytes of a stream of any length.
class Capture {
 public:
  explicit Capture(size_t limit) : limit_(limit) {}
  void add(std::string_view bytes) {
    total_ += bytes.size();
    const size_t room = limit_ - std::min(limit_, head_.size());
    head_ += bytes.substr(0, room);
    tail_ += bytes.substr(std::min(room, bytes.size()));
    if (tail_.size() > 2 * limit_) tail_.erase(0, tail_.size() - limit_);
  }
  std::string text() const {
    const size_t kept = std::min(limit_, tail_.size());
    const size_t lost = total_ - head_.size() - kept;
    std::string out = head_;
    if (lost > 0) out += fmt::format("\n[{} bytes left out]\n", lost);
    out += tail_.substr(tail_.size() - kept);
    return clean_utf8(out);
  }
  size_t total() const { return total_; }

 private:
  size_t limit_, total_ = 0;
  std::string head_, tail_;
};

// Of a channel to a worker.
struct Ends {
  UniqueFd mine, theirs;
};

// Of one request: a reply to another one, or one that was written before it, does not have it.
std::string new_nonce() {
  uint64_t words[2] = {};
  [[maybe_unused]] const ssize_t got = ::getrandom(words, sizeof words, 0);
  return fmt::format("{:016x}{:016x}", words[0], words[1]);
}

Result<Ends> make_control() {
  int sockets[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    return fail(ErrorCode::kInternal,
                "cannot create a socket for a worker process: {}; raise the limit of open files "
                "(ulimit -n), then repeat this",
                std::strerror(errno));
  }
  const timeval send_limit{10, 0};
  ::setsockopt(sockets[0], SOL_SOCKET, SO_SNDTIMEO, &send_limit, sizeof send_limit);
  return Ends{UniqueFd(sockets[0]), UniqueFd(sockets[1])};
}

Result<Ends> make_output() {
  int pipes[2];
  if (::pipe2(pipes, O_CLOEXEC) != 0) {
    return fail(ErrorCode::kInternal,
                "cannot create a pipe for a worker process: {}; raise the limit of open files "
                "(ulimit -n), then repeat this",
                std::strerror(errno));
  }
  ::fcntl(pipes[0], F_SETFL, O_NONBLOCK);
  return Ends{UniqueFd(pipes[0]), UniqueFd(pipes[1])};
}

}  // namespace

struct Worker::Watch {
  explicit Watch(Worker& worker)
      : reader(worker.control_.get()), capture(worker.settings_.limits.captured) {}
  MessageReader reader;
  Capture capture;
  Outcome outcome;
  void begin_stage(double now, const ProcessUse& use, pid_t pid) {
    stage_since = now;
    stage_cpu = use.cpu_seconds;
    stage_starved = starved_seconds(pid);
    note_progress(now, use);
  }
  void note_progress(double now, const ProcessUse& use) {
    spin_since = now;
    spin_cpu = use.cpu_seconds;
    spin_faults = use.faults;
  }
  // It worked little, and had no need to wait for a processor.
  bool idles(double now, const ProcessUse& use, double limit, pid_t pid) const {
    const double elapsed = now - stage_since, enough = kBusyShare * elapsed;
    const double worked = use.cpu_seconds - stage_cpu;
    if (elapsed <= limit || worked >= enough) return false;
    return worked + starved_seconds(pid) - stage_starved < enough;
  }
  // Many threads that wait by looping spend much processor time in a short while: both must pass.
  // Every process touches pages as it begins: where none are counted, the kernel does not count.
  bool spins(double now, const ProcessUse& use, double limit) const {
    return spin_faults > 0 && use.cpu_seconds > spin_cpu + limit && now > spin_since + limit;
  }
  double started = 0, cpu_started = 0, driver_started = 0;
  std::string nonce;
  uint32_t sequence = 0;
  // The stage in flight, and the worker's time on and in wait of a processor when it began.
  double stage_since = 0, stage_cpu = 0, stage_starved = 0;
  // When it last touched new pages, and its processor time and pages then.
  double spin_since = 0, spin_cpu = 0;
  uint64_t spin_faults = 0;
};

// A worker holds its channel, its trial's memory and what the driver opens.
static Status check_descriptor_limit() {
  constexpr uint64_t kLeast = 24;
  const uint64_t limit = descriptor_limit();
  if (limit >= kLeast) return {};
  return fail(ErrorCode::kInternal,
              "a process may open {} files here, and a worker process needs {}; raise the limit of "
              "open files (ulimit -n)",
              limit, kLeast);
}

Result<Worker> Worker::start(const WorkerSettings& settings, StageView& stage) {
  CLVET_RETURN_IF_ERROR(check_descriptor_limit());
  CLVET_ASSIGN_OR_RETURN(Ends control, make_control());
  CLVET_ASSIGN_OR_RETURN(Ends output, make_output());
  stage.reset();
  SpawnRequest request;
  request.program = settings.program;
  request.args = {settings.program, "worker", fmt::format("--parent={}", ::getpid())};
  request.environment = settings.environment;
  request.out = output.theirs.get();
  request.inherit = {control.theirs.get(), stage.fd()};
  Worker worker;
  worker.settings_ = settings;
  worker.stage_ = &stage;
  worker.control_ = std::move(control.mine);
  worker.output_ = std::move(output.mine);
  CLVET_ASSIGN_OR_RETURN(worker.pid_, spawn_and_remember(request));
  return worker;
}

Worker::Worker(Worker&& other) noexcept { *this = std::move(other); }

Worker& Worker::operator=(Worker&& other) noexcept {
  if (this != &other) {
    bury();
    settings_ = std::move(other.settings_);
    stage_ = other.stage_;
    control_ = std::move(other.control_);
    output_ = std::move(other.output_);
    pid_ = std::exchange(other.pid_, 0);
    resident_at_first_ = other.resident_at_first_;
    family_since_ = other.family_since_;
    family_bytes_ = other.family_bytes_;
  }
  return *this;
}

Worker::~Worker() { bury(); }

OutcomeKind Worker::wait(Watch& watch) {
  for (;;) {
    pollfd polled[2] = {{control_.get(), POLLIN, 0}, {output_.get(), POLLIN, 0}};
    ::poll(polled, 2, kTickMs);
    drain_output(watch);
    if (const auto kind = take_reply(watch)) return *kind;
    if (note_end(watch)) {
      return take_reply(watch) == OutcomeKind::kReply ? OutcomeKind::kReply : OutcomeKind::kEnded;
    }
    if (const auto kind = check_limits(watch)) return *kind;
  }
}

Outcome Worker::call(const nlohmann::json& request, const std::vector<int>& fds) {
  Watch watch(*this);
  watch.started = monotonic_seconds();
  const ProcessUse use = process_use(pid_);
  watch.begin_stage(watch.started, use, pid_);
  watch.cpu_started = use.cpu_seconds;
  watch.driver_started = stage_->read().driver_seconds;
  watch.nonce = new_nonce();
  nlohmann::json asked = request;
  asked["nonce"] = watch.nonce;
  if (const auto kind = time_is_up()) {
    finish(watch, *kind);  // however fast its answers come
  } else if (send_message(control_.get(), asked, fds)) {
    finish(watch, wait(watch));
  } else {
    // It died or stopped reading before this request; let the exit state tell.
    drain_output(watch);
    finish(watch, note_end(watch) ? OutcomeKind::kEnded : OutcomeKind::kNonsense);
  }
  return std::move(watch.outcome);
}

bool Worker::note_end(Watch& watch) {
  const auto exit = reap(pid_);
  if (!exit) return false;
  watch.outcome.exit = *exit;
  forget_and_sweep(std::exchange(pid_, 0));
  return true;
}

bool Worker::alive() {
  if (pid_ > 0 && reap(pid_)) forget_and_sweep(std::exchange(pid_, 0));
  return pid_ > 0;
}

std::optional<OutcomeKind> Worker::take_reply(Watch& watch) {
  const auto pumped = watch.reader.pump(false);
  if (!pumped) {
    // A closed socket is no evidence by itself: the exit state follows, or the limits apply.
    if (pumped.error().code == ErrorCode::kInvalidArgument) return OutcomeKind::kNonsense;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return std::nullopt;
  }
  if (!*pumped) return std::nullopt;
  watch.outcome.reply = watch.reader.take().body;
  if (text_in(watch.outcome.reply, "nonce") != watch.nonce) return OutcomeKind::kNonsense;
  watch.outcome.reply.erase("nonce");
  return OutcomeKind::kReply;
}

std::optional<OutcomeKind> Worker::time_is_up() const {
  if (interrupt_requested.load()) return OutcomeKind::kInterrupted;
  if (settings_.deadline > 0 && monotonic_seconds() > settings_.deadline)
    return OutcomeKind::kDeadline;
  return std::nullopt;
}

std::optional<OutcomeKind> Worker::check_limits(Watch& watch) {
  if (const auto kind = time_is_up()) return kind;
  const double now = monotonic_seconds();
  const ProcessUse use = process_use(pid_);
  watch.outcome.cpu_seconds = use.cpu_seconds - watch.cpu_started;
  const uint64_t allowed = std::min(settings_.limits.memory_growth, memory_available() / 2);
  const auto too_much = [&] { return use.resident + family_bytes_ > resident_at_first_ + allowed; };
  // Also before it is called too much: what the family held may be gone.
  if (now > family_since_ + kFamilySeconds || too_much()) {
    family_bytes_ = memory_of_family(pid_, workers_besides(pid_));
    family_since_ = now;
  }
  if (too_much()) return OutcomeKind::kMemory;
  const StageSnapshot stage = stage_->read();
  if (stage.sequence != watch.sequence) {
    watch.sequence = stage.sequence;
    watch.begin_stage(now, use, pid_);
    return std::nullopt;
  }
  if (use.faults >= watch.spin_faults + kFewFaults) watch.note_progress(now, use);
  const double elapsed = now - watch.stage_since;
  if (!stage.stage)
    return elapsed > settings_.limits.own ? std::optional(OutcomeKind::kHang) : std::nullopt;
  const StageClock& clock = stage.build_clock ? settings_.limits.build : settings_.limits.other;
  if (elapsed > clock.busy) return OutcomeKind::kHang;
  if (clock.spin > 0 && watch.spins(now, use, clock.spin)) return OutcomeKind::kHang;
  if (watch.idles(now, use, clock.idle, pid_)) return OutcomeKind::kHang;
  return std::nullopt;
}

void Worker::drain_output(Watch& watch) {
  char chunk[1 << 16];
  // Bounded: a driver that prints for ever must not keep the supervisor from its clocks.
  for (int i = 0; i < 64; ++i) {
    const ssize_t got = ::read(output_.get(), chunk, sizeof chunk);
    if (got <= 0) return;
    watch.capture.add({chunk, static_cast<size_t>(got)});
  }
}

void Worker::finish(Watch& watch, OutcomeKind kind) {
  Outcome& outcome = watch.outcome;
  outcome.kind = kind;
  outcome.stage = stage_->read();
  const double now = monotonic_seconds();
  outcome.driver_seconds = outcome.stage.driver_seconds - watch.driver_started;
  if (kind == OutcomeKind::kReply) {
    if (resident_at_first_ == 0 && pid_ > 0) resident_at_first_ = process_use(pid_).resident;
    if (pid_ > 0) outcome.cpu_seconds = process_use(pid_).cpu_seconds - watch.cpu_started;
  } else {
    if (outcome.stage.stage) outcome.driver_seconds += std::max(0.0, now - outcome.stage.entered);
    if (!bury()) outcome.kind = OutcomeKind::kUnreapable;
  }
  drain_output(watch);
  outcome.wall_seconds = now - watch.started;
  outcome.captured = watch.capture.text();
  outcome.captured_total = watch.capture.total();
}

bool ends_run(OutcomeKind kind) {
  return kind == OutcomeKind::kDeadline || kind == OutcomeKind::kInterrupted;
}

std::optional<Error> own_fault(const Outcome& outcome) {
  using enum OutcomeKind;
  const bool told = outcome.kind == kReply || outcome.kind == kDeadline ||
                    outcome.kind == kInterrupted || outcome.stage.sequence > 0;
  if (told) return std::nullopt;
  if (outcome.kind == kEnded && outcome.exit.signal) {
    return fail(ErrorCode::kInternal,
                "signal {} ended a worker process before it loaded a driver; free some memory and "
                "probe again, which keeps the finished cases",
                outcome.exit.signal)
        .value();
  }
  return fail(ErrorCode::kInternal,
              "a worker process did not come to load a driver (status {}, {}); install clvet again "
              "and probe again, which keeps the finished cases",
              outcome.exit.exit_status, one_line(outcome.captured, 200))
      .value();
}

bool Worker::bury() {
  if (pid_ <= 0) return true;
  const pid_t pid = std::exchange(pid_, 0);
  for (const pid_t member : descendants(pid)) ::kill(member, SIGKILL);
  const double until = monotonic_seconds() + kReapSeconds;
  while (monotonic_seconds() < until) {
    if (reap(pid)) {
      forget_and_sweep(pid);
      return true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return false;
}

}  // namespace clvet
