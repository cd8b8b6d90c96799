#include "tests/cli/terminal.h"

#include <pty.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "tests/probe/fake/helpers.h"

namespace clvet::test {

TerminalSession run_on_terminal(const std::vector<std::string>& arguments,
                                const Variables& environment, int columns,
                                const std::string& folder) {
  std::string program = CLVET_PROGRAM;
  std::vector<char*> argv{program.data()};
  for (const std::string& text : arguments) argv.push_back(const_cast<char*>(text.c_str()));
  argv.push_back(nullptr);
  winsize size{};
  size.ws_row = 24;
  size.ws_col = static_cast<unsigned short>(columns);
  int terminal = -1;
  const pid_t pid = ::forkpty(&terminal, nullptr, nullptr, &size);
  if (pid == 0) {
    for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
    if (::chdir(folder.c_str()) == 0) ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  TerminalSession session;
  char buffer[4096];
  for (ssize_t got; (got = ::read(terminal, buffer, sizeof buffer)) > 0;)
    session.shown.append(buffer, static_cast<size_t>(got));
  ::close(terminal);
  int status = 0;
  ::waitpid(pid, &status, 0);
  if (WIFEXITED(status)) session.exit_code = WEXITSTATUS(status);
  return session;
}

}  // namespace clvet::test
