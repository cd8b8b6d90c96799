// A network, ready to run: where it is right and fastest, by what 'clvet probe' found out here.
#pragma once

#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "clvet/abi.h"
#include "clvet/context.h"
#include "clvet/placement.h"
#include "clvet/result.h"
#include "clvet/tensor.h"

CLVET_ABI_BEGIN

struct SessionOptions {
  std::string device = "auto";     // "auto", "host", an index, platform:index or part of a name
  std::string precision = "auto";  // "auto", "low", "normal" or "high"
  // The report to go by; empty: the one that 'clvet probe' keeps on this machine. Where there is
  // none, the host computes, which a warning says.
  std::string report;
  // Where earlier starts kept what they found out; empty: $CLVET_STATE_DIR or the XDG folder.
  std::string state_dir;
  // Shares its report and its devices; `report` and `state_dir` stay empty then.
  std::optional<Context> context;
  bool strict = false;  // an error, where a fallback is needed
  // Gets each warning as it comes, from the thread that runs.
  std::function<void(const std::string& text)> warning;
  // "device": answers wait until the device is ready; "cpu-first": the host gives them until then.
  std::string start = "device";
};

// All calls may come from any thread; those that compute wait for each other. After a move, and in
// a child process after fork(), each gives an error.
class CLVET_API Session {
 public:
  // An ONNX file.
  static Result<Session> open(const std::string& path, const SessionOptions& options = {});
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  // Cancels what still runs, and waits for its end.
  ~Session();

  Result<std::vector<TensorInfo>> inputs() const;   // shapes as set, or as the model leaves them
  Result<std::vector<TensorInfo>> outputs() const;  // shapes are known after warm_up() or run()
  // What the file says of itself, ONNX's metadata_props: a recogniser's characters, a version.
  Result<std::map<std::string, std::string>> metadata() const;

  // Sets the shapes of inputs by name; those that are not named keep theirs. Mappings end: they and
  // values that were set are stale. busy: a run is in flight. invalid_argument: the model has no
  // such input, or does not allow the shape; all stays as it was.
  Status resize(const std::map<std::string, Shape>& shapes);

  // Memory of an input for writing (or for reading what was written), of an output for reading.
  // One mapping of a tensor at a time, but any number for reading. busy: it is mapped, or a run is
  // in flight. invalid_argument: no such tensor, its shape is open, an output for writing.
  // unavailable: an output before the first run.
  Result<Mapping> map(const std::string& name, Access access);

  // The inputs in `values` have these values from now on, and these shapes. They are read where
  // they lie, without a copy: until others are set or written, or the session goes, they stay as
  // they are. Where a shape is another than before, mappings of that input and of all outputs are
  // stale. invalid_argument: no such input, another type, a shape that the model does not allow,
  // null. busy: one is mapped for writing, or a run is in flight. After an error all is as it was.
  Status set(const std::map<std::string, Values>& values);

  // Plans, builds, and checks an answer to zeros: a run after that takes what runs take. Inputs
  // keep their values.
  Status warm_up();
  // Computes the outputs of what the inputs hold. busy: a mapping is there. invalid_argument: an
  // input has no values yet.
  Status run();
  // The same on a thread of its own, after those that were asked before. Dropping the future waits
  // for nothing.
  std::future<Status> run_async();
  // Ends the run in flight at its next step, and those that wait: they give `cancelled`.
  void cancel();

  Result<Placement> placement() const;

 private:
  class Impl;
  explicit Session(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
  template <class Ask>
  auto with(Ask&& ask) const -> decltype(ask(*impl_));
};

CLVET_ABI_END
