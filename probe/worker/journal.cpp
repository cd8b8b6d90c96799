#include "probe/worker/journal.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/json.h"
#include "base/result.h"
#include "base/text.h"
#include "base/whole_number.h"
#include "probe/process/process.h"
#include "probe/report/report.h"
#include "probe/report/report_json.h"

namespace clvet {
namespace {

using Json = nlohmann::json;
constexpr const char* kSchema = "clvet.journal/1";
constexpr size_t kMaxJournalBytes = size_t{256} << 20;

Json parse_line(const std::string& line) { return Json::parse(line, nullptr, false); }

std::string text_at(const Json& record, const char* name) {
  const auto found = record.find(name);
  return found != record.end() && found->is_string() ? found->get<std::string>() : std::string();
}

bool flag_at(const Json& record, const char* name, bool fallback) {
  const auto found = record.find(name);
  return found != record.end() && found->is_boolean() ? found->get<bool>() : fallback;
}

// Zeros are what some file systems leave where a machine stopped in the middle of a write.
bool is_blank(const std::string& line) { return line.find_first_not_of('\0') == std::string::npos; }

tl::unexpected<Error> damaged(const std::string& path, const std::string& fault) {
  return fail(ErrorCode::kInvalidArgument, "{}: {}; start over with --fresh", path, fault);
}

void note_holder(int lock) {
  const std::string pid = fmt::format("{}\n", ::getpid());
  if (::ftruncate(lock, 0) != 0) return;
  [[maybe_unused]] const ssize_t written = ::pwrite(lock, pid.data(), pid.size(), 0);
}

// Its process id, as far as it has written that.
std::string holder_of(int lock) {
  char text[32];
  const ssize_t size = ::pread(lock, text, sizeof text, 0);
  const std::string_view pid = trim({text, static_cast<size_t>(std::max<ssize_t>(size, 0))});
  return all_digits(pid) ? std::string(pid) : "?";
}

bool holder_is_dead(int lock) {
  const auto pid = whole_number(holder_of(lock));
  return pid && ::kill(static_cast<pid_t>(*pid), 0) != 0 && errno == ESRCH;
}

// flock(), which waits two seconds at most, and only where the holder is dead: a child that it was
// about to start has its descriptors until the child's exec, or its end.
bool locked(int lock) {
  for (int left = 100; ::flock(lock, LOCK_EX | LOCK_NB) != 0; --left) {
    const int error = errno;
    if (left == 0 || error != EWOULDBLOCK || !holder_is_dead(lock)) {
      errno = error;
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

Result<UniqueFd> take_lock(const std::string& path) {
  CLVET_RETURN_IF_ERROR(check_private(path));
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.valid()) {
    return fail(ErrorCode::kInvalidArgument, "cannot write {}: {}; name a writable state folder",
                path, std::strerror(errno));
  }
  if (locked(fd.get())) {
    note_holder(fd.get());
    return fd;
  }
  if (errno != EWOULDBLOCK) {
    return fail(ErrorCode::kInvalidArgument,
                "cannot lock {}: {}; set CLVET_STATE_DIR to a folder "
                "of a local file system",
                path, std::strerror(errno));
  }
  return fail(ErrorCode::kBusy,
              "another clvet probe (process {}) holds {}; wait for it to end, or set "
              "CLVET_STATE_DIR to another folder",
              holder_of(fd.get()), path);
}

tl::unexpected<Error> cannot_write(const std::string& path, int error) {
  return fail(
      ErrorCode::kInvalidArgument,
      "cannot write {}: {}; free some space and probe again, which keeps the finished cases", path,
      std::strerror(error));
}

std::string end_record(const std::string& key, const VerdictReport& verdict, bool final) {
  const Json head = {{"end", key}, {"final", final}};
  std::string line = head.dump();
  line.pop_back();
  return line + ",\"verdict\":" + verdict_to_json(verdict) + "}";
}

void note_begin(const Json& record, const std::string& boot, JournalEntry& entry) {
  entry.in_flight = true;
  entry.verdict.reset();  // one that was begun again is not known before its end is
  ++entry.interruptions;  // until its end is read
  entry.careful = flag_at(record, "careful", false);
  entry.boot_id = boot;
}

void note_stop(JournalEntry& entry) {
  if (entry.in_flight) --entry.interruptions;
  entry.in_flight = false;
}

Status note_end(const Json& record, JournalEntry& entry) {
  CLVET_ASSIGN_OR_RETURN(VerdictReport verdict,
                         verdict_from_json(record.value("verdict", Json()).dump()));
  note_stop(entry);
  if (flag_at(record, "final", true)) {
    entry.verdict = std::move(verdict);
  } else {
    entry.last_attempt = std::move(verdict);
    ++entry.attempts;
  }
  return {};
}

}  // namespace

bool forbids_retry(Verdict verdict) {
  return verdict == Verdict::kInterrupted || verdict == Verdict::kBoardReset;
}

std::string Journal::key_of(const std::string& environment_key, const std::string& variant_key,
                            const std::string& case_id) {
  return environment_key + " " + variant_key + " " + case_id;
}

Result<Journal> Journal::open(const std::string& path, const std::string& kernel_set, bool fresh) {
  Journal journal;
  journal.path_ = path;
  journal.boot_id_ = boot_id();
  CLVET_ASSIGN_OR_RETURN(journal.lock_, take_lock(path + ".lock"));
  CLVET_RETURN_IF_ERROR(check_private(path));
  if (fresh) ::unlink(path.c_str());
  if (const auto text = read_file(path, kMaxJournalBytes)) {
    const auto header = parse_line(text->substr(0, text->find('\n')));
    if (!header.is_object() || text_at(header, "schema") != kSchema) {
      return damaged(path, "it is not a clvet journal");
    }
    if (text_at(header, "kernel_set") == kernel_set) {
      CLVET_RETURN_IF_ERROR(journal.load(*text));
    } else {
      ::unlink(path.c_str());  // another version's kernels: none of its verdicts hold
    }
  } else if (text.error().code != ErrorCode::kNotFound) {
    return wrap(text.error(), "the journal");
  }
  CLVET_RETURN_IF_ERROR(journal.start(kernel_set));
  return journal;
}

Status Journal::start(const std::string& kernel_set) {
  header_ = Json{{"schema", kSchema}, {"kernel_set", kernel_set}}.dump() + "\n";
  if (::access(path_.c_str(), F_OK) != 0) {
    CLVET_RETURN_IF_ERROR(write_file_atomically(path_, header_));
  }
  file_ = UniqueFd(::open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  if (!file_.valid()) {
    return fail(ErrorCode::kInvalidArgument, "cannot write {}: {}", path_, std::strerror(errno));
  }
  // A leading newline ends a line that an earlier session left half-written.
  const Json session = {{"session", boot_id_}, {"pid", ::getpid()}, {"started", utc_now()}};
  return append("\n" + session.dump());
}

Status Journal::load(const std::string& text) {
  std::string boot;
  const std::vector<std::string> lines = split(text, '\n');
  for (size_t i = 1; i < lines.size(); ++i) {
    if (is_blank(lines[i])) continue;
    const Json record = parse_line(lines[i]);
    // A crash leaves a line cut short. Any other line that is not a record was not written by
    // clvet.
    if (!record.is_object() && lines[i][0] == '{') continue;
    if (record.contains("session")) {
      boot = text_at(record, "session");
    } else if (record.contains("begin")) {
      note_begin(record, boot, entries_[text_at(record, "begin")]);
    } else if (record.contains("stop")) {
      note_stop(entries_[text_at(record, "stop")]);
    } else if (record.contains("end")) {
      const Status ended = note_end(record, entries_[text_at(record, "end")]);
      if (!ended) return damaged(path_, fmt::format("line {}: {}", i + 1, ended.error().message));
    } else {
      return damaged(path_, fmt::format("line {} is not a record", i + 1));
    }
  }
  return {};
}

const JournalEntry* Journal::find(const std::string& key) const {
  const auto entry = entries_.find(key);
  return entry == entries_.end() ? nullptr : &entry->second;
}

Status Journal::append(const std::string& line) {
  const std::string text = line + "\n";
  const ssize_t written = ::write(file_.get(), text.data(), text.size());
  if (written == static_cast<ssize_t>(text.size())) return {};
  return cannot_write(path_, written < 0 ? errno : ENOSPC);
}

Status Journal::begin(const std::string& key, int attempt, bool careful) {
  CLVET_RETURN_IF_ERROR(
      append(Json{{"begin", key}, {"attempt", attempt}, {"careful", careful}}.dump()));
  if (::fdatasync(file_.get()) != 0) return cannot_write(path_, errno);
  ++synced_;
  in_flight_.insert(key);
  return {};
}

void Journal::stop(const std::string& key) {
  // Where this cannot be written, it counts as interrupted.
  if (in_flight_.erase(key) > 0) (void)append(Json{{"stop", key}}.dump());
}

void Journal::stop() {
  while (!in_flight_.empty()) stop(std::string(*in_flight_.begin()));
}

Status Journal::end(const std::string& key, const VerdictReport& verdict, bool final) {
  in_flight_.erase(key);
  if (final) entries_[key].verdict = verdict;
  return append(end_record(key, verdict, final));
}

// A new file with the header and these verdicts alone.
Status Journal::keep_only(const std::map<std::string, VerdictReport>& kept) {
  std::string text = header_;
  for (const auto& [key, verdict] : kept) text += end_record(key, verdict, true) + "\n";
  return write_file_atomically(path_, text);
}

Status Journal::finish() {
  std::map<std::string, VerdictReport> kept;
  for (const auto& [key, entry] : entries_) {
    if (entry.verdict && forbids_retry(entry.verdict->verdict)) kept[key] = *entry.verdict;
  }
  if (!kept.empty()) return keep_only(kept);
  if (::unlink(path_.c_str()) != 0) {
    return fail(ErrorCode::kInvalidArgument, "cannot remove {}: {}", path_, std::strerror(errno));
  }
  return {};
}

}  // namespace clvet
