// Processes as the supervisor sees them: spawn, watch, reap, sweep. Linux only.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace clvet {

struct SpawnRequest {
  std::string program;  // absolute path; own_executable() also starts where its file is gone
  std::vector<std::string> args;                   // argv[0] included
  std::map<std::string, std::string> environment;  // set on top of the caller's own
  int out = -1;                                    // becomes fd 1 and 2; -1: fds 0 to 2 stay
  std::vector<int> inherit;                        // become fds 3, 4, ... in this order
};

Result<pid_t> spawn(const SpawnRequest& request);

struct ExitState {
  int signal = 0;       // killed by it
  int exit_status = 0;  // else its status
};
// The exit state once `pid` has ended; nullopt while it lives. Never waits.
std::optional<ExitState> reap(pid_t pid);

// Of a living process; zeros where it is gone.
struct ProcessUse {
  uint64_t resident = 0;   // bytes
  double cpu_seconds = 0;  // used
  uint64_t faults = 0;     // pages that it touched and had to be given
};
ProcessUse process_use(pid_t pid);
// Time that its living threads could have run and were not let to; 0 where the kernel keeps no
// account. More expensive than process_use: it reads a file for each thread.
double starved_seconds(pid_t pid);

// Makes this process the one that orphans of its descendants are handed to. Children that it has by
// then are nobody's orphans.
void become_subreaper();
// Kills and reaps all that descend from this process, but for the children in `keep` and what
// descends from these: the orphans that a driver left, and their children.
void sweep_orphans(const std::vector<pid_t>& keep);
// Bytes that the descendants of `root` hold, without those of `root` itself; with them those of
// orphans, which have become children of this process. `others`: children that are no orphans.
uint64_t memory_of_family(pid_t root, const std::vector<pid_t>& others);
// This process and all that descend from it, by /proc.
std::vector<pid_t> descendants(pid_t root);

// The path at the time of the first call.
std::string own_executable();
// Raises this process's own limit of open files, as far as it may and clvet has use for it.
void raise_descriptor_limit();
uint64_t descriptor_limit();  // as it is now; the most there is: not known
std::string boot_id();

}  // namespace clvet
