// The hidden verb: this program as a worker of another clvet.
#include "probe/worker/worker_main.h"

#include <unistd.h>

#include <CLI/CLI.hpp>

#include "cli/command.h"

namespace clvet::command_worker {
namespace {

void add(CLI::App& app, int&) {
  CLI::App* verb = app.add_subcommand("worker", "internal: serves another clvet process");
  verb->group("");
  static int parent = 0;
  verb->add_option("--parent", parent)->required();
  verb->callback([] { ::_exit(worker_main(parent)); });
}

}  // namespace

extern const Command def;
const Command def{add};

}  // namespace clvet::command_worker
