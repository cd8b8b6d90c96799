#include "cli/terminal.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>

#include "base/clock.h"
#include "base/event.h"
#include "base/file.h"
#include "base/language.h"
#include "base/result.h"
#include "base/text.h"
#include "cli/exit_code.h"
#include "reports/render/progress_text.h"

namespace clvet {
namespace {

bool progress_open = false;

EventLevel wanted_level() {
  const char* text = std::getenv("CLVET_LOG");
  const std::string word = text ? text : "info";
  if (word == "error") return EventLevel::kError;
  if (word == "warn") return EventLevel::kWarning;
  return word == "debug" ? EventLevel::kDebug : EventLevel::kInfo;
}

// Of the terminal that stderr is; 80 where nothing tells.
size_t terminal_columns() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const char* text = std::getenv("COLUMNS");
  const int columns = text ? std::atoi(text) : 0;
  return columns > 0 ? static_cast<size_t>(columns) : 80;
}

// One column stays free: some terminals go on to the next line as soon as the last one is filled.
void show_progress(const Event& event) {
  static double last = 0;
  static ProgressText progress;
  const double now = monotonic_seconds();
  const std::string line = progress.line(event, now, terminal_columns() - 1);
  if (event.done != event.total && now - last < 0.1) return;
  last = now;
  std::fprintf(stderr, "\r\x1b[K%s", line.c_str());
  progress_open = true;
}

}  // namespace

bool use_colours(int fd) { return ::isatty(fd) && !std::getenv("NO_COLOR"); }

void end_progress() {
  if (progress_open) std::fprintf(stderr, "\r\x1b[K");
  progress_open = false;
}

void print_text(const std::string& text) { print_coloured(clean_utf8(text)); }
void print_coloured(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }
void print_line(const std::string& line) { print_text(line + "\n"); }

void print_error(const std::string& message) {
  end_progress();
  std::fprintf(stderr, "clvet: %s\n", clean_utf8(message).c_str());
}

int report_error(const Error& error) {
  print_error(translated(error.message));
  switch (error.code) {
    case ErrorCode::kInternal:
      return kExitOurFault;
    case ErrorCode::kUnavailable:
    case ErrorCode::kNoDevice:
      return kExitNoDevice;
    case ErrorCode::kBusy:
      return kExitBusy;
    default:
      return kExitUsage;
  }
}

EventSink terminal_sink(bool quiet) {
  const bool terminal = ::isatty(STDERR_FILENO);
  return [quiet, terminal, level = wanted_level()](const Event& event) {
    if (event.level == EventLevel::kProgress) {
      if (terminal && !quiet) show_progress(event);
      return;
    }
    if (event.level > level || (quiet && event.level > EventLevel::kWarning)) return;
    end_progress();
    std::fprintf(stderr, "%s\n", clean_utf8(translated(event.text)).c_str());
  };
}

Status written_to_stdout(int error) {
  if (error == 0 || error == EPIPE) return {};
  return fail(ErrorCode::kInvalidArgument, "cannot write to standard output: {}",
              std::strerror(error));
}

Status write_document(const OutputOptions& output, const std::string& text) {
  if (output.json.empty()) return {};
  if (output.json != "-") return write_file_atomically(output.json, text);
  const bool whole =
      std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  return written_to_stdout(whole ? 0 : errno);
}

ProcessGuard::ProcessGuard() {
  std::fflush(stdout);
  saved_ = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  std::error_code error;
  folder_ = std::filesystem::current_path(error).string();
}

ProcessGuard::~ProcessGuard() {
  std::fflush(stdout);
  std::error_code error;
  if (!folder_.empty()) std::filesystem::current_path(folder_, error);
  if (saved_ < 0) return;
  // Where the driver closed ours, what is written must fail and not arrive on stderr.
  if (::dup2(saved_, STDOUT_FILENO) < 0) ::close(STDOUT_FILENO);
  ::close(saved_);
}

}  // namespace clvet
