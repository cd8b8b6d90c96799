// Frame after frame through a network: while one is computed, the next is filled.
#pragma once

#include <clvet/clvet.h>

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <ratio>
#include <string>
#include <vector>

#include "frames.h"

namespace camera {

struct LoopOptions {
  int frames = 30;  // of one size
  double fps = 0;   // as a camera gives them; 0: as fast as they are computed
  std::chrono::duration<double, std::milli> deadline{1000};  // of a frame; then it is dropped
  std::function<bool()> stopped;                             // asked often
};

struct Counts {
  int computed = 0, dropped = 0;
  double seconds = 0;  // without the first frame
  float largest = 0;   // of the last frame's first output
};

class Loop {
 public:
  // A network with one float input [N,3,H,W].
  static clvet::Result<Loop> open(const std::string& model, const clvet::SessionOptions& options);

  // Frames of one size. The first one plans and builds for that size: no deadline holds for it.
  clvet::Result<Counts> run(const Frames& frames, Size size, const LoopOptions& options);
  clvet::Result<clvet::Placement> placement() const { return session_.placement(); }

 private:
  using Clock = std::chrono::steady_clock;
  using Buffer = std::shared_ptr<std::vector<float>>;
  Loop(clvet::Session session, std::string input, std::string output);
  clvet::Status begin(const Buffer& frame, Size size);
  clvet::Status finish(bool first, const LoopOptions& options, Counts& counts);
  clvet::Status look(Counts& counts);

  clvet::Session session_;
  std::string input_, output_;
  std::future<clvet::Status> running_;
  Clock::time_point began_;
};

}  // namespace camera
