#include "probe/process/stage_page.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "base/clock.h"
#include "base/fd.h"
#include "base/result.h"
#include "base/text.h"
#include "probe/report/report.h"

namespace clvet {
namespace {

constexpr size_t kPageBytes = 4096;
static_assert(sizeof(StagePage) <= kPageBytes);

Mapping worker_mapping;
StagePage* worker_page = nullptr;
bool worker_careful = false;

int64_t now_ns() { return static_cast<int64_t>(monotonic_seconds() * 1e9); }

StagePage* page_of(const Mapping& mapping) {
  return reinterpret_cast<StagePage*>(mapping.bytes().data());
}

StageSnapshot snapshot_of(const StagePage& page) {
  StageSnapshot out;
  if (page.magic != StagePage::kMagic) return out;
  out.sequence = page.sequence.load();
  const int32_t stage = page.stage.load();
  if (stage >= 0 && stage <= static_cast<int32_t>(Stage::kExit)) {
    out.stage = static_cast<Stage>(stage);
  }
  char call[sizeof page.call];
  std::memcpy(call, page.call, sizeof call);
  out.call = driver_string({call, sizeof call});
  out.build_clock = page.build_clock.load() != 0;
  out.entered = static_cast<double>(page.entered_ns.load()) * 1e-9;
  out.driver_seconds = static_cast<double>(page.driver_ns.load()) * 1e-9;
  return out;
}

}  // namespace

Result<StageView> StageView::create(const std::string& path) {
  StageView view;
  ::unlink(path.c_str());
  view.fd_ = UniqueFd(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!view.fd_.valid() || ::ftruncate(view.fd_.get(), kPageBytes) != 0) {
    return fail(ErrorCode::kInvalidArgument, "cannot write {}: {}; name a writable state folder",
                path, std::strerror(errno));
  }
  CLVET_ASSIGN_OR_RETURN(view.mapping_, Mapping::of(view.fd_.get(), kPageBytes, true));
  view.reset();
  return view;
}

Result<StageView> StageView::anonymous() {
  StageView view;
  CLVET_ASSIGN_OR_RETURN(view.fd_, make_memfd("clvet-stage", kPageBytes));
  CLVET_ASSIGN_OR_RETURN(view.mapping_, Mapping::of(view.fd_.get(), kPageBytes, true));
  view.reset();
  return view;
}

void StageView::reset() {
  StagePage* page = new (mapping_.bytes().data()) StagePage{};
  page->magic = StagePage::kMagic;
  page->stage = -1;
}

StageSnapshot StageView::read() const { return snapshot_of(*page_of(mapping_)); }

StageSnapshot StageView::left_behind(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return {};
  const auto mapping = Mapping::of(fd.get(), kPageBytes, false);
  return mapping ? snapshot_of(*page_of(*mapping)) : StageSnapshot{};
}

Status StageMarker::attach(int fd) {
  CLVET_ASSIGN_OR_RETURN(worker_mapping, Mapping::of(fd, kPageBytes, true));
  worker_page = page_of(worker_mapping);
  return {};
}

void StageMarker::set_careful(bool careful) { worker_careful = careful; }

StageMarker::StageMarker(Stage stage, const char* call, bool may_compile) {
  if (!worker_page) return;
  std::strncpy(worker_page->call, call, sizeof worker_page->call - 1);
  worker_page->build_clock = may_compile || stage == Stage::kBuild || stage == Stage::kCreateKernel;
  worker_page->entered_ns = now_ns();
  worker_page->stage = static_cast<int32_t>(stage);
  worker_page->sequence.fetch_add(1);
  if (worker_careful) ::msync(worker_page, kPageBytes, MS_SYNC);
}

StageMarker::~StageMarker() {
  if (!worker_page) return;
  worker_page->driver_ns.fetch_add(now_ns() - worker_page->entered_ns.load());
  worker_page->stage = -1;
  worker_page->sequence.fetch_add(1);
}

}  // namespace clvet
