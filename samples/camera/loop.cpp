#include "loop.h"

#include <clvet/clvet.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "frames.h"

namespace camera {
namespace {

using namespace std::chrono_literals;

bool takes_frames(const std::vector<clvet::TensorInfo>& inputs) {
  if (inputs.size() != 1 || inputs[0].type != clvet::DataType::f32) return false;
  const clvet::Shape& shape = inputs[0].shape;
  return shape.size() == 4 && (shape[1] == 3 || shape[1] < 0);
}

}  // namespace

Loop::Loop(clvet::Session session, std::string input, std::string output)
    : session_(std::move(session)), input_(std::move(input)), output_(std::move(output)) {}

clvet::Result<Loop> Loop::open(const std::string& model, const clvet::SessionOptions& options) {
  auto session = clvet::Session::open(model, options);
  if (!session) return session.error();
  const auto inputs = session->inputs();
  if (!inputs) return inputs.error();
  const auto outputs = session->outputs();
  if (!outputs) return outputs.error();
  if (!takes_frames(*inputs) || outputs->empty()) {
    return clvet::Error{clvet::ErrorCode::invalid_argument,
                        model +
                            ": takes no frames; name a network with one float32 input of "
                            "shape [N,3,H,W]"};
  }
  return Loop(std::move(*session), inputs->front().name, outputs->front().name);
}

// The session reads the frame where it lies, and keeps it until the next one is set.
clvet::Status Loop::begin(const Buffer& frame, Size size) {
  const std::shared_ptr<const void> data(frame, frame->data());
  const clvet::Shape shape = {1, 3, size.height, size.width};
  if (auto done = session_.set({{input_, {clvet::DataType::f32, shape, data}}}); !done) return done;
  began_ = Clock::now();
  running_ = session_.run_async();
  return {};
}

clvet::Status Loop::finish(bool first, const LoopOptions& options, Counts& counts) {
  while (running_.wait_for(5ms) != std::future_status::ready) {
    const bool late = !first && Clock::now() - began_ > options.deadline;
    if (late || options.stopped()) session_.cancel();
  }
  const clvet::Status done = running_.get();
  if (done) {
    ++counts.computed;
    return look(counts);
  }
  if (done.error().code != clvet::ErrorCode::cancelled) return done;
  if (!options.stopped()) ++counts.dropped;
  return {};
}

clvet::Status Loop::look(Counts& counts) {
  const auto output = session_.map(output_, clvet::Access::read);
  if (!output) return output.error();
  const auto values = output->as<const float>();
  if (!values) return values.error();
  if (!values->empty()) counts.largest = *std::max_element(values->begin(), values->end());
  return {};
}

clvet::Result<Counts> Loop::run(const Frames& frames, Size size, const LoopOptions& options) {
  const size_t pixels = static_cast<size_t>(size.width) * size.height;
  std::array<Buffer, 2> buffers;
  for (Buffer& buffer : buffers) buffer = std::make_shared<std::vector<float>>(3 * pixels);
  Counts counts;
  Clock::time_point start;
  for (int number = 0; number < options.frames && !options.stopped(); ++number) {
    Buffer& frame = buffers[static_cast<size_t>(number) % buffers.size()];
    frames.fill(number, size, *frame);  // while the one before is computed
    if (number > 0) {
      if (auto done = finish(number == 1, options, counts); !done) return done.error();
    }
    if (options.stopped()) break;
    if (number == 1) start = Clock::now();
    if (number > 1 && options.fps > 0)
      std::this_thread::sleep_until(start + (number - 1) * (1s / options.fps));
    if (auto done = begin(frame, size); !done) return done.error();
  }
  if (running_.valid()) {
    if (auto done = finish(options.frames == 1, options, counts); !done) return done.error();
  }
  if (counts.computed > 1)
    counts.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return counts;
}

}  // namespace camera
