#include "runtime/exec/flight.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/result.h"
#include "base/text.h"
#include "probe/report/report.h"

namespace clvet {
namespace {

constexpr size_t kPageBytes = 4096;
constexpr const char* kSuffix = ".flight";
// One thread writes; who reads does so after its death, or to see whether it moves.
constexpr auto kPlain = std::memory_order_relaxed;
static_assert(sizeof(FlightPage) <= kPageBytes);

int64_t now_ns() { return static_cast<int64_t>(monotonic_seconds() * 1e9); }

FlightPage& page_in(std::span<std::byte> bytes) {
  return *reinterpret_cast<FlightPage*>(bytes.data());
}

void clear(std::span<std::byte> bytes) {
  auto* page = new (bytes.data()) FlightPage{};
  page->stage = -1;
  page->magic = FlightPage::kMagic;
}

template <size_t N>
void put(char (&field)[N], const std::string& text) {
  const size_t size = std::min(text.size(), N - 1);
  std::memcpy(field, text.data(), size);
  field[size] = 0;
}

template <size_t N>
std::string text_of(const char (&field)[N]) {
  char copy[N];
  std::memcpy(copy, field, N);
  return clean_utf8(std::string(copy, std::find(copy, copy + N, 0)));
}

double seconds_since(int64_t begun_ns) {
  return begun_ns == 0 ? 0 : std::max(0.0, static_cast<double>(now_ns() - begun_ns) * 1e-9);
}

FlightSnapshot snapshot_of(const FlightPage& page) {
  FlightSnapshot out;
  if (page.magic != FlightPage::kMagic) return out;
  const int32_t stage = page.stage;
  if (stage >= 0 && stage <= static_cast<int32_t>(Stage::kExit)) {
    out.stage = static_cast<Stage>(stage);
  }
  out.environment_key = text_of(page.environment_key);
  out.variant = text_of(page.variant);
  out.binary = text_of(page.binary);
  out.used_binaries = page.binaries != 0;
  out.inside = page.inside != 0;
  out.finished = page.finished_ns != 0;
  out.finished_s = seconds_since(page.finished_ns);
  out.pending = page.pending;
  out.exit_code = page.exit_code;
  out.calls = page.calls;
  out.inference_s = seconds_since(page.begun_ns);
  out.longest_s = static_cast<double>(page.longest_ns.load()) * 1e-9;
  return out;
}

// The descriptor that the variable names, kept open for the process.
int given_descriptor() {
  const char* text = std::getenv(Flight::kVariable);
  const int number = text ? std::atoi(text) : -1;
  return number > 2 ? number : -1;
}

SaidText said_on(const FlightPage& page) { return {page.said_bytes, page.said_hash}; }
void put_said(const SaidText& said, FlightPage& page) {
  page.said_bytes = said.bytes;
  page.said_hash = said.hash;
}

// The page that the variable names, mapped once; null where it names none.
FlightPage* given_page() {
  static const auto* mapping =
      new Result<Mapping>(Mapping::of(given_descriptor(), kPageBytes, true));
  return *mapping ? &page_in((*mapping)->bytes()) : nullptr;
}

// Of the files that this process writes.
struct OwnPaths {
  std::mutex mutex;
  std::set<std::string> paths;
  int made = 0;
  decltype(::getpid()) process = 0;
};
OwnPaths& own_paths() {
  static auto* paths = new OwnPaths();  // also while the process ends
  return *paths;
}

// One that no other page of this process has.
std::string new_path(const std::string& folder) {
  OwnPaths& own = own_paths();
  const std::lock_guard lock(own.mutex);
  if (std::exchange(own.process, ::getpid()) != ::getpid()) own.paths.clear();  // the parent's
  return *own.paths.insert(fmt::format("{}/{}-{}{}", folder, ::getpid(), own.made++, kSuffix))
              .first;
}

// Held by no process any more, and not a file that another start reads just now.
UniqueFd lock_lost(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (!fd.valid() || ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) return {};
  return fd;
}

}  // namespace

bool FlightSnapshot::variant_is_known() const {
  const bool builds = stage == Stage::kBuild || stage == Stage::kCreateKernel;
  return !variant.empty() && (builds || pending <= 1);
}

Flight::Flight() : own_(kPageBytes) { clear(own_); }

Result<Flight> Flight::in_folder(const std::string& folder, bool synced) {
  if (const int given = given_descriptor(); given >= 0) {
    CLVET_ASSIGN_OR_RETURN(Mapping mapping, Mapping::of(given, kPageBytes, true));
    return Flight(std::move(mapping));
  }
  CLVET_RETURN_IF_ERROR(make_folders(folder));
  const std::string path = new_path(folder);
  UniqueFd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  const bool ready = file.valid() && ::flock(file.get(), LOCK_EX | LOCK_NB) == 0 &&
                     ::ftruncate(file.get(), kPageBytes) == 0;
  if (!ready) {
    return fail(ErrorCode::kInvalidArgument, "cannot write {}: {}; name a writable path", path,
                std::strerror(errno));
  }
  CLVET_ASSIGN_OR_RETURN(Mapping mapping, Mapping::of(file.get(), kPageBytes, true));
  clear(mapping.bytes());
  if (synced) ::fsync(file.get());
  Flight flight(std::move(mapping));
  flight.file_ = std::move(file);
  flight.path_ = path;
  return flight;
}

Flight::~Flight() {
  if (!file_.valid()) return;
  OwnPaths& own = own_paths();
  const std::lock_guard lock(own.mutex);
  if (own.process == ::getpid() && own.paths.erase(path_) > 0) ::unlink(path_.c_str());
}

void Flight::sync() const {
  if (file_.valid()) ::fsync(file_.get());
}

FlightPage& Flight::page() const {
  const std::span<std::byte> own(const_cast<std::byte*>(own_.data()), own_.size());
  return page_in(mapping_.valid() ? mapping_.bytes() : own);
}

void Flight::on(const std::string& environment_key) {
  put(page().environment_key, environment_key);
}
void Flight::take(const std::string& variant) { put(page().variant, variant); }
void Flight::take_binary(const std::string& key) { put(page().binary, key); }
void Flight::uses_binary() { page().binaries.fetch_add(1, kPlain); }
void Flight::launched() {
  FlightPage& page = this->page();
  page.pending.store(page.pending.load(kPlain) + 1, kPlain);
}
void Flight::waited() { page().pending.store(0, kPlain); }

void Flight::enter(Stage stage) {
  FlightPage& page = this->page();
  page.stage.store(static_cast<int32_t>(stage), kPlain);
  page.calls.store(page.calls.load(kPlain) + 1, kPlain);
  page.inside.store(1, kPlain);
}

void Flight::leave() { page().inside.store(0, kPlain); }

void Flight::begin_inference() { page().begun_ns = now_ns(); }

void Flight::end_inference() {
  FlightPage& page = this->page();
  page.longest_ns = std::max<int64_t>(page.longest_ns, now_ns() - page.begun_ns);
  page.begun_ns = 0;
}

FlightSnapshot Flight::read() const { return snapshot_of(page()); }

Result<FlightView> FlightView::create() {
  FlightView view;
  CLVET_ASSIGN_OR_RETURN(view.fd_, make_memfd("clvet-flight", kPageBytes));
  CLVET_ASSIGN_OR_RETURN(view.mapping_, Mapping::of(view.fd_.get(), kPageBytes, true));
  clear(view.mapping_.bytes());
  view.set_said({});
  return view;
}

FlightSnapshot FlightView::read() const { return snapshot_of(page_in(mapping_.bytes())); }

SaidText FlightView::said() const { return said_on(page_in(mapping_.bytes())); }
void FlightView::set_said(const SaidText& said) { put_said(said, page_in(mapping_.bytes())); }

void SaidText::add(std::string_view text) {
  constexpr uint64_t kPrime = 0x100000001b3;
  bytes += text.size();
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * kPrime;
}

void finish_flight(int exit_code) {
  leave_flight();
  FlightPage* page = given_page();
  if (!page) return;
  page->exit_code = exit_code;
  page->finished_ns = now_ns();
}

void leave_flight() {
  OwnPaths& own = own_paths();
  // In a handler of a signal, which may have come amid a change: the next start removes the file.
  const std::unique_lock lock(own.mutex, std::try_to_lock);
  if (!lock || own.process != ::getpid()) return;
  for (const std::string& path : own.paths) ::unlink(path.c_str());
}

SaidText said_before() {
  const FlightPage* page = given_page();
  return page ? said_on(*page) : SaidText();
}

void say_said(const SaidText& said) {
  if (FlightPage* page = given_page()) put_said(said, *page);
}

bool is_isolated() { return given_descriptor() >= 0; }

void end_with_parent() {
  if (!is_isolated()) return;
  const auto parent = ::getppid();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (parent == 1) ::_exit(1);  // it was gone before we asked
}

std::vector<FlightSnapshot> lost_flights(const std::string& folder) {
  std::vector<FlightSnapshot> lost;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string path = entry.path().string();
    if (!path.ends_with(kSuffix)) continue;
    const UniqueFd fd = lock_lost(path);
    if (!fd.valid()) continue;
    if (const auto mapping = Mapping::of(fd.get(), kPageBytes, false)) {
      lost.push_back(snapshot_of(page_in(mapping->bytes())));
    }
    ::unlink(path.c_str());
  }
  return lost;
}

}  // namespace clvet
