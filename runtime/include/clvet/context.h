// What several sessions share: a report, and each of its devices opened once.
#pragma once

#include <memory>
#include <string>

#include "clvet/abi.h"
#include "clvet/result.h"

CLVET_ABI_BEGIN

struct ContextOptions {
  // The report to go by; empty: the one that 'clvet probe' keeps on this machine. Where there is
  // none, the host computes.
  std::string report;
  // Where earlier starts kept what they found out; empty: $CLVET_STATE_DIR or the XDG folder.
  std::string state_dir;
};

class ContextImpl;

// Sessions that are opened with one context have one OpenCL context and one set of built programs a
// device, and take turns on it. Copies are the same context, which lasts as long as a copy or a
// session of it. All calls may come from any thread.
class CLVET_API Context {
 public:
  static Result<Context> open(const ContextOptions& options = {});

 private:
  friend class ContextAccess;
  explicit Context(std::shared_ptr<ContextImpl> impl);
  std::shared_ptr<ContextImpl> impl_;
};

CLVET_ABI_END
