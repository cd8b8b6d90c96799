// What is asked of the driver, written down before it is asked: a death, a hang or an error then
// has a kernel and a stage.
//
// The record is a page of memory. Where it lies in a file it outlives the process, whatever ends
// it; the next start, or the process that waits for this one, reads there what it was doing.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "probe/report/report.h"

namespace clvet {

// Untrusted on reading. Shared between processes of one build.
struct FlightPage {
  static constexpr uint32_t kMagic = 0x63766c66;
  uint32_t magic;
  std::atomic<uint32_t> inside;   // 1: within a call of the driver
  std::atomic<int32_t> stage;     // Stage of the last call
  std::atomic<uint32_t> pending;  // launches that nothing has waited for yet
  std::atomic<uint64_t> calls;    // made so far; a clock costs more than a launch on some machines
  std::atomic<int64_t> begun_ns;  // CLOCK_MONOTONIC, of the inference in hand; 0: none
  std::atomic<int64_t> longest_ns;  // of an inference that ended
  std::atomic<int64_t>
      finished_ns;  // when the verb was done, `exit_code` is its answer; 0: not yet
  std::atomic<int32_t> exit_code;
  std::atomic<uint64_t> said_bytes, said_hash;
  char environment_key[72];
  char variant[184];               // of the last build or launch
  std::atomic<uint32_t> binaries;  // programs in use that were not compiled by this process
  char binary[72];  // key of the program whose binary is given to the driver or asked of it
};

// Text that reached standard output: how much, and what it was.
struct SaidText {
  uint64_t bytes = 0;
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  void add(std::string_view text);
  bool operator==(const SaidText&) const = default;
};

// What a page says.
struct FlightSnapshot {
  std::string environment_key, variant;
  std::optional<Stage> stage;
  bool inside = false, finished = false;
  uint32_t pending = 0;
  int exit_code = 0;
  uint64_t calls = 0;
  double inference_s = 0;  // since the inference began; 0: none is in hand
  double longest_s = 0;
  double finished_s = 0;  // since then
  std::string binary;     // the binary in hand: its program's key; empty: none is
  bool used_binaries = false;
  // Whether `variant` is at fault, if something is: else any launch that was not waited for is.
  bool variant_is_known() const;
};

class Flight {
 public:
  static constexpr const char* kVariable = "CLVET_FLIGHT";
  // In memory of its own, for nobody else.
  Flight();
  // In a new file of the folder `folder`, locked while this object lives; in the descriptor that
  // the environment variable kVariable names, where it does. With `synced` the file is on the disk
  // before the call returns.
  static Result<Flight> in_folder(const std::string& folder, bool synced);
  Flight(Flight&&) noexcept = default;
  Flight& operator=(Flight&&) noexcept = default;
  // The file goes.
  ~Flight();

  // The file is on the disk, where there is one.
  void sync() const;
  void on(const std::string& environment_key);
  // A call of the driver is about to be made; it is over with leave().
  void enter(Stage stage);
  void leave();
  // The kernel of the builds and launches from here on.
  void take(const std::string& variant);
  // The binary of the program `key` in the calls from here on; empty: none.
  void take_binary(const std::string& key);
  void uses_binary();  // one more program that comes of one
  void launched();     // one more that is not waited for
  void waited();       // for all of them
  void begin_inference();
  void end_inference();

  FlightSnapshot read() const;

 private:
  explicit Flight(Mapping mapping) : mapping_(std::move(mapping)) {}
  FlightPage& page() const;
  std::vector<std::byte> own_;
  Mapping mapping_;
  UniqueFd file_;
  std::string path_;
};

// A page for a child process to write, read by the parent.
class FlightView {
 public:
  static Result<FlightView> create();
  int fd() const { return fd_.get(); }
  FlightSnapshot read() const;
  SaidText said() const;
  // What earlier children said; for the next one to go on from.
  void set_said(const SaidText& said);

 private:
  UniqueFd fd_;
  Mapping mapping_;
};

// The verb is done: nothing that the driver does at exit counts after that.
void finish_flight(int exit_code);
// This process ends as its user wants, whatever it was doing.
void leave_flight();
// Of the page that kVariable names; nothing where it names none.
SaidText said_before();
void say_said(const SaidText& said);
// Whether the variable names a page: the parent waits.
bool is_isolated();
// Where it does, this process ends with its parent.
void end_with_parent();

// Pages of processes that are gone, each once: their files are removed. Those of living processes
// stay.
std::vector<FlightSnapshot> lost_flights(const std::string& folder);

// What `work` gives, an inference.
template <class Work>
auto in_flight(Flight& flight, const Work& work) {
  flight.begin_inference();
  auto result = work();
  flight.end_inference();
  return result;
}

// Within a call of the driver.
class InDriver {
 public:
  InDriver(Flight& flight, Stage stage) : flight_(flight) { flight_.enter(stage); }
  ~InDriver() { flight_.leave(); }
  InDriver(const InDriver&) = delete;
  InDriver& operator=(const InDriver&) = delete;

 private:
  Flight& flight_;
};

}  // namespace clvet
