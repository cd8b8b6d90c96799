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

// What `clvet --help` says of them and of the variables that are read; docs/interfaces.md says
// more of the same ones.
struct HelpRow {
  const char *name, *meaning;
};
inline constexpr HelpRow kExitCodeRows[] = {
    {"0", "fine"},
    {"1", "findings, which each verb explains"},
    {"2", "wrong usage, a bad file, or an output that cannot be written"},
    {"3", "no OpenCL, no device that was asked for, or no report"},
    {"4", "a fault of clvet, or of the machine under it"},
    {"5", "another clvet probe is running"},
    {"130", "interrupted; what was found is kept"},
};
inline constexpr HelpRow kVariableRows[] = {
    {"CLVET_STATE_DIR", "the folder of reports (default: ~/.local/state/clvet)"},
    {"CLVET_CACHE_DIR",
     "the folder of models that set-up and samples use (default: ~/.cache/clvet)"},
    {"CLVET_PROGRAM_CACHE_MIB", "the most MiB of saved programs (default: 256); 0: none are saved"},
    {"CLVET_THREADS", "the default of --threads"},
    {"CLVET_LOG", "messages on standard error: error, warn, info (default) or debug"},
    {"CLVET_FIX_ROOT", "the tree that the script of discover --fix-script works on"},
    {"NO_COLOR", "if it is set, no colours"},
    {"COLUMNS", "the width of progress, where the terminal does not tell it"},
    {"LC_ALL", "the default of --lang"},
    {"LC_MESSAGES", "the same where LC_ALL is not set"},
    {"LANG", "the same where neither is set"},
};

}  // namespace clvet
