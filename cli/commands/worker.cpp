// The hidden verb: this program as a worker of another clvet.
#include "probe/worker/worker_main.h"

#include <unistd.h>

#include "cli/command.h"
#include "cli/options.h"

namespace clvet::command_worker {
namespace {

void add(Verb program, int&) {
  Verb verb = program.add_subcommand("worker", "internal: serves another clvet process");
  verb.hide();
  static int parent = 0;
  verb.add_option("--parent", parent).required();
  verb.callback([] { ::_exit(worker_main(parent)); });
}

}  // namespace

extern const Command def;
const Command def{add};

}  // namespace clvet::command_worker
