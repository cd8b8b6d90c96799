// A worker that misbehaves as $HOSTILE says, for the tests of the supervisor. It speaks our
// protocol on fd 3 and marks stages on the page of fd 4, as `clvet worker` does.
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "probe/process/stage_page.h"
#include "probe/report/report.h"
#include "probe/worker/protocol.h"

namespace {

using clvet::Stage;
using clvet::StageMarker;

constexpr int kControl = 3;

// Of the request in hand.
std::string nonce;

void reply(nlohmann::json body) {
  body["nonce"] = nonce;
  (void)clvet::send_message(kControl, body, {});
}

[[noreturn]] void wait_for_ever() {
  for (;;) ::pause();
}

[[noreturn]] void spin_for_ever() {
  volatile bool spinning = true;
  while (spinning) {
  }
  std::abort();
}

void write_all(int fd, const std::string& text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t count = ::write(fd, text.data() + done, text.size() - done);
    if (count <= 0) return;
    done += static_cast<size_t>(count);
  }
}

void note_pid() {
  const std::string path = std::getenv("HOSTILE_FILE");
  if (FILE* file = std::fopen((path + ".new").c_str(), "w")) {
    std::fprintf(file, "%d\n", ::getpid());
    std::fclose(file);
    std::rename((path + ".new").c_str(), path.c_str());
  }
}

// A grandchild in a session of its own that holds every descriptor; its pid goes into
// $HOSTILE_FILE. With `generations` it has a child in another session, and so on; the youngest one
// is named then.
void leave_orphan(int generations = 1) {
  if (const pid_t child = ::fork(); child > 0) {
    ::waitpid(child, nullptr, 0);
    while (::access(std::getenv("HOSTILE_FILE"), F_OK) != 0) ::usleep(1000);
    return;
  }
  ::setsid();
  if (::fork() > 0) ::_exit(0);
  while (--generations > 0 && ::fork() == 0) ::setsid();
  if (generations == 0) note_pid();
  ::sleep(60);
  ::_exit(0);
}

void touch_new_pages() {
  constexpr size_t kBytes = 1 << 20;
  void* pages = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) std::abort();
  std::memset(pages, 1, kBytes);
  ::munmap(pages, kBytes);
}

void grow() {
  const StageMarker stage(Stage::kBuild, "clBuildProgram");
  std::vector<char*> blocks;
  for (int i = 0; i < 400; ++i) {
    constexpr size_t kBlock = 16u << 20;
    blocks.push_back(static_cast<char*>(std::malloc(kBlock)));
    std::memset(blocks.back(), 1, kBlock);
    ::usleep(5000);
  }
}

const std::map<std::string, std::function<void()>>& deeds() {
  static const std::map<std::string, std::function<void()>> kDeeds = {
      {"reply",
       [] {
         reply({{"ok", true}});
       }},
      {"abort",
       [] {
         const StageMarker stage(Stage::kBuild, "clBuildProgram");
         write_all(2, "LLVM ERROR: Cannot select: intrinsic %llvm.bifrost.2586\n");
         std::abort();
       }},
      {"segfault",
       [] {
         const StageMarker stage(Stage::kFinish, "clFinish");
         ::raise(SIGSEGV);
       }},
      {"exit0",
       [] {
         const StageMarker stage(Stage::kEnqueue, "clEnqueueNDRangeKernel");
         ::_exit(0);
       }},
      {"exit7", [] { ::_exit(7); }},
      {"hang-idle",
       [] {
         const StageMarker stage(Stage::kFinish, "clFinish");
         wait_for_ever();
       }},
      {"hang-busy",
       [] {
         const StageMarker stage(Stage::kBuild, "clBuildProgram");
         spin_for_ever();
       }},
      {"hang-outside", [] { wait_for_ever(); }},
      {"steps",  // slow, but every stage ends in time
       [] {
         for (int i = 0; i < 8; ++i) {
           const StageMarker stage(Stage::kEnqueue, "clEnqueueNDRangeKernel");
           ::usleep(100000);
         }
         reply({{"ok", true}});
       }},
      {"busy-but-ends",
       [] {
         {
           const StageMarker stage(Stage::kFinish, "clFinish");
           const std::clock_t until = std::clock() + CLOCKS_PER_SEC * 6 / 10;
           while (std::clock() < until) {
           }
         }
         reply({{"ok", true}});
       }},
      {"busy-with-new-pages",
       [] {
         {
           const StageMarker stage(Stage::kBuild, "clBuildProgram");
           const std::clock_t until = std::clock() + CLOCKS_PER_SEC;
           while (std::clock() < until) touch_new_pages();
         }
         reply({{"ok", true}});
       }},
      {"immune",
       [] {
         for (int number = 1; number < 32; ++number) ::signal(number, SIG_IGN);
         const StageMarker stage(Stage::kFinish, "clFinish");
         wait_for_ever();
       }},
      {"balloon", grow},
      {"balloon-in-child",
       [] {
         if (const pid_t child = ::fork(); child > 0) {
           ::waitpid(child, nullptr, 0);
         } else {
           grow();
           ::_exit(0);
         }
         reply({{"ok", true}});
       }},
      {"balloon-in-orphan",
       [] {
         const StageMarker stage(Stage::kBuild, "clBuildProgram");
         if (::fork() == 0) {
           ::setsid();
           if (::fork() == 0) grow();
           ::_exit(0);
         }
         ::sleep(30);
       }},
      {"reply-to-another",
       [] {
         nonce = "0123456789abcdef";
         reply({{"ok", true}});
       }},
      {"flood",
       [] {
         const std::string text(1 << 20, 'x');
         write_all(1, "the first words\n");
         for (int i = 0; i < 64; ++i) write_all(1, text);
         write_all(2, "the last words\n");
         reply({{"ok", true}});
       }},
      {"flood-for-ever",
       [] {
         const StageMarker stage(Stage::kBuild, "clBuildProgram");
         const std::string text(1 << 16, 'x');
         for (;;) write_all(1, text);
       }},
      {"garbage",
       [] {
         write_all(kControl, "\xFF\xFF\xFF\xFFLLVM ERROR: printed into the wrong descriptor\n");
         wait_for_ever();
       }},
      {"half-a-message",
       [] {
         const StageMarker stage(Stage::kRead, "clEnqueueReadBuffer");
         write_all(kControl, std::string("\x00\x00\x10\x00 and no more", 16));
         wait_for_ever();
       }},
      {"deep-message",
       [] {
         const std::string body(1 << 20, '\x81');
         const auto size = static_cast<uint32_t>(body.size());
         write_all(kControl, std::string(reinterpret_cast<const char*>(&size), 4) + body);
         wait_for_ever();
       }},
      {"close-fds",
       [] {
         const StageMarker stage(Stage::kBuild, "clBuildProgram");
         for (int fd = 0; fd < 64; ++fd) ::close(fd);
         wait_for_ever();
       }},
      {"orphan-then-reply",
       [] {
         leave_orphan();
         reply({{"ok", true}});
       }},
      {"orphans-in-a-row-then-abort",
       [] {
         const StageMarker stage(Stage::kBuild, "clBuildProgram");
         leave_orphan(4);
         std::abort();
       }},
      {"orphan-then-abort",
       [] {
         const StageMarker stage(Stage::kBuild, "clBuildProgram");
         leave_orphan();
         std::abort();
       }},
      {"reply-then-abort",
       [] {
         reply({{"ok", true}});
         std::abort();
       }},
      {"bad-bytes",
       [] {
         write_all(1, std::string("Mali\xFF\x1B[31m\0", 11));
         reply({{"text", "\xFF"}});
       }},
  };
  return kDeeds;
}

}  // namespace

int main() {
  const char* name = std::getenv("HOSTILE");
  if (!name) return 99;
  if (std::string(name) == "die-at-start") return 3;
  if (!clvet::StageMarker::attach(4)) return 98;
  for (;;) {
    const auto request = clvet::receive_message(kControl);
    if (!request) return 0;
    nonce = request->body.value("nonce", "");
    const auto deed = deeds().find(request->body.value("deed", name));
    if (deed == deeds().end()) return 99;
    deed->second();
  }
}
