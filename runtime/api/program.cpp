#include "runtime/api/program.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/poll.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "base/text.h"
#include "probe/process/process.h"

namespace clvet {
namespace {

namespace fs = std::filesystem;

constexpr int kGlanceMs = 50;                  // between looks at the process
constexpr size_t kLongestLine = 4096;          // what is longer is cut
constexpr int kSilence = 500 / kGlanceMs;      // looks without a word
constexpr int kMostLeft = 1024;                // reads once it has ended
constexpr int kPatience = 10'000 / kGlanceMs;  // looks from a request to end until it is killed

std::string value_of(const char* variable) {
  const char* text = std::getenv(variable);
  return text ? text : "";
}

// Of the file that this code is in.
fs::path own_folder() {
  Dl_info info{};
  std::error_code error;
  if (::dladdr(reinterpret_cast<const void*>(&find_program), &info) == 0 || !info.dli_fname)
    return {};
  const fs::path file = fs::canonical(info.dli_fname, error);
  return error ? fs::path() : file.parent_path();
}

bool is_program(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

// Beside the library: of a package for Python, of a prefix, of Debian's multiarch folders.
std::vector<fs::path> places() {
  std::vector<fs::path> found;
  if (const fs::path own = own_folder(); !own.empty())
    for (const char* way : {"clvet", "../bin/clvet", "../../bin/clvet"}) found.push_back(own / way);
  for (const std::string& folder : split(value_of("PATH"), ':'))
    if (!folder.empty()) found.push_back(fs::path(folder) / "clvet");
  return found;
}

// Text that comes in pieces, as lines.
class Lines {
 public:
  explicit Lines(const std::function<bool(const std::string&)>& line) : line_(line) {}
  void add(std::string_view text) {
    for (const char one : text) {
      if (one == '\n' || one == '\r') {
        end();
      } else if (pending_.size() < kLongestLine) {
        pending_ += one;
      }
    }
  }
  void end() {
    if (pending_.empty()) return;
    last_ = clean_utf8(std::exchange(pending_, {}));
    if (line_ && !line_(last_)) wants_end_ = true;
  }
  // Nothing was said for a while: whoever listens may want an end.
  void ask() {
    if (line_ && !line_("")) wants_end_ = true;
  }
  bool wants_end() const { return wants_end_; }
  const std::string& last() const { return last_; }

 private:
  const std::function<bool(const std::string&)>& line_;
  std::string pending_, last_;
  bool wants_end_ = false;
};

// What is there to read within a glance's time. False: nothing. Never waits for the pipe's end:
// what the program left behind may hold it.
bool read_some(int fd, Lines& lines) {
  pollfd ready{fd, POLLIN, 0};
  if (::poll(&ready, 1, kGlanceMs) <= 0) return false;
  char buffer[4096];
  const ssize_t got = ::read(fd, buffer, sizeof buffer);
  if (got > 0) lines.add({buffer, static_cast<size_t>(got)});
  if (got == 0) ::usleep(kGlanceMs * 1000);  // it closed its output, and works on
  return got > 0;
}

ExitState watch(pid_t pid, int fd, Lines& lines) {
  for (int since = 0, silent = 0;;) {
    silent = read_some(fd, lines) ? 0 : silent + 1;
    if (silent % kSilence == kSilence - 1) lines.ask();
    if (const auto state = reap(pid)) {
      for (int more = 0; more < kMostLeft && read_some(fd, lines);) ++more;
      lines.end();
      return *state;
    }
    if (!lines.wants_end()) continue;
    if (since == 0) ::kill(pid, SIGINT);
    if (++since == kPatience) ::kill(pid, SIGKILL);
  }
}

}  // namespace

Result<std::string> find_program(const std::string& named) {
  for (const std::string& given : {named, value_of("CLVET_PROGRAM")}) {
    if (given.empty()) continue;
    std::error_code error;
    const fs::path whole = fs::absolute(given, error);
    if (is_program(whole)) return whole.string();
    return fail(ErrorCode::kNotFound, "{} is no program: name the clvet program", given);
  }
  for (const fs::path& place : places()) {
    std::error_code error;
    if (is_program(place)) return fs::canonical(place, error).string();
  }
  return fail(
      ErrorCode::kNotFound,
      "the clvet program is not beside the library and not on the PATH: install it, or name "
      "it in CLVET_PROGRAM");
}

Result<ProgramEnd> run_program(const ProgramRun& run) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return fail(ErrorCode::kInternal, "no pipe: {}", std::strerror(errno));
  const UniqueFd from(ends[0]);
  UniqueFd to(ends[1]);
  ::fcntl(from.get(), F_SETFL, O_NONBLOCK);
  std::vector<std::string> args = run.args;
  args.insert(args.begin(), run.program);
  CLVET_ASSIGN_OR_RETURN(
      const pid_t pid,
      spawn(
          {.program = run.program, .args = args, .environment = run.environment, .out = to.get()}));
  to.reset();
  Lines lines(run.line);
  const ExitState state = watch(pid, from.get(), lines);
  return ProgramEnd{lines.wants_end(), state.exit_status, state.signal, lines.last()};
}

}  // namespace clvet
