// Exit codes that scripts rely on (docs/interfaces.md).
#pragma once

namespace clvet {

enum ExitCode : int {
  kExitFine = 0,
  kExitFindings = 1,
  kExitUsage = 2,
  kExitNoDevice = 3,
  kExitOurFault = 4,
  kExitBusy = 5,
  kExitInterrupted = 130,
};

}  // namespace clvet
