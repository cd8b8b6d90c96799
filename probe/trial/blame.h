// Which constructs have done nothing but end workers: what holds them is tried last, and after some
// of the same ends not any more, so that a device on which all crashes or hangs takes minutes.
// Pure.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "probe/report/report.h"

namespace clvet {

// What a kernel is made of: the words of its constructs (docs/interfaces.md), and its program. A
// kernel without constructs speaks for all kernels.
struct KernelMakeup {
  std::vector<std::string> constructs;
  std::string program;
};

class Blame {
 public:
  // A verdict that was reached by trying. One that ran to its end, right or wrong, clears
  // everything that it holds.
  void note(const KernelMakeup& kernel, const VerdictReport& verdict);
  // The canary holds no construct; where it is right, it takes more to blame all kernels.
  // `end` tells how it ended its worker, where it did.
  void note_canary(CapabilityVerdict verdict, const VerdictReport& end);
  // Something in it has ended a worker, and never came through.
  bool suspects(const KernelMakeup& kernel) const;
  // Why it is not to be tried: the same end came too often, with nothing that came through. Empty:
  // it is.
  std::string why_not(const KernelMakeup& kernel) const;

 private:
  // How workers ended, to the programs that ended so.
  struct Record {
    bool passed = false;  // or wrong
    std::map<std::string, std::set<std::string>> ends;
  };
  std::string worn_out(const std::string& construct, int patience) const;
  std::map<std::string, Record> of_constructs_, of_programs_;
  bool canary_right_ = false;
};

}  // namespace clvet
