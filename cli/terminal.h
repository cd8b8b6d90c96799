// What the verbs share: messages, progress, and where documents go.
#pragma once

#include <string>

#include "base/event.h"
#include "base/result.h"

namespace clvet {

struct OutputOptions {
  std::string json;    // file, or "-" for stdout; empty: none
  bool quiet = false;  // no text, no progress
};

// Colours only on a terminal, and never with NO_COLOR.
bool use_colours(int fd);
// All of these print clean_utf8(): names and messages of models and drivers may hold anything.
//
// To stdout. Whether all of it was written is checked once, when the program ends.
void print_text(const std::string& text);
void print_line(const std::string& line);
// Text that is clean already, with colours.
void print_coloured(const std::string& text);
// Prints "clvet: <message>" to stderr.
void print_error(const std::string& message);
// The same of an error, in the user's language; gives the exit code that fits the error.
int report_error(const Error& error);
// Progress and messages on stderr, as CLVET_LOG (error, warn, info, debug) and --quiet allow.
EventSink terminal_sink(bool quiet);
// Ends a progress line, so that what follows starts on a line of its own.
void end_progress();
// Of a write to stdout that ended with `error` (errno; 0: none). A reader that went away wanted no
// more, which is no failure.
Status written_to_stdout(int error);
// Writes a document where --json says; nothing where it says nothing.
Status write_document(const OutputOptions& output, const std::string& text);

// While it lives, whatever a driver in this process prints on stdout goes to stderr, so that our
// own output stays clean. Its end puts back the working folder, too.
class ProcessGuard {
 public:
  ProcessGuard();
  ~ProcessGuard();
  ProcessGuard(const ProcessGuard&) = delete;
  ProcessGuard& operator=(const ProcessGuard&) = delete;

 private:
  int saved_ = -1;
  std::string folder_;  // empty: not known
};

}  // namespace clvet
