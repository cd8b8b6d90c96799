// clvet_camera: frames through a network, as from a camera; their size changes half-way.
#include <clvet/clvet.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <ratio>
#include <string>
#include <utility>
#include <vector>

#include "frames.h"
#include "loop.h"

namespace {

volatile std::sig_atomic_t interrupted = 0;

struct Arguments {
  std::string model, pictures;
  std::vector<std::string> sizes = {"320x256", "480x320"};
  double deadline_ms = 1000;
  clvet::SessionOptions session;
  camera::LoopOptions loop;
};

clvet::Status run(const Arguments& arguments) {
  camera::Frames frames;
  if (!arguments.pictures.empty()) {
    auto read = camera::Frames::of_folder(arguments.pictures);
    if (!read) return read.error();
    frames = std::move(*read);
  }
  auto loop = camera::Loop::open(arguments.model, arguments.session);
  if (!loop) return loop.error();
  for (const std::string& text : arguments.sizes) {
    if (interrupted) break;
    camera::Size size;
    if (std::sscanf(text.c_str(), "%dx%d", &size.width, &size.height) != 2 || size.width < 1 ||
        size.height < 1) {
      return clvet::Error{clvet::ErrorCode::invalid_argument,
                          "--size " + text + ": not a width and a height, such as 320x256"};
    }
    const auto counts = loop->run(frames, size, arguments.loop);
    if (!counts) return counts.error();
    std::printf("%s: %d frames computed, %d dropped, %.1f frames per second; largest value %.3f\n",
                text.c_str(), counts->computed, counts->dropped,
                counts->seconds > 0 ? (counts->computed - 1) / counts->seconds : 0.0,
                static_cast<double>(counts->largest));
    std::fflush(stdout);
  }
  const auto placement = loop->placement();
  if (placement) std::printf("computed by: %s\n", placement->device.c_str());
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Computes frames with a network, as they come; drops those that take too long.");
  app.add_option("model", arguments.model, "ONNX, one float32 input [N,3,H,W]")->required();
  app.add_option("--pictures", arguments.pictures, "folder of PNG and JPEG files (default: drawn)");
  app.add_option("--size", arguments.sizes, "sizes of frames, one after the other")
      ->capture_default_str();
  app.add_option("--frames", arguments.loop.frames, "of each size")->capture_default_str();
  app.add_option("--fps", arguments.loop.fps, "a second; 0: as fast as they are computed")
      ->capture_default_str();
  app.add_option("--deadline", arguments.deadline_ms, "ms after which a frame is dropped")
      ->capture_default_str();
  app.add_option("--report", arguments.session.report, "report file (default: the machine's)");
  app.add_option("--device", arguments.session.device, "auto, host, or a device of the report")
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  arguments.loop.deadline = std::chrono::duration<double, std::milli>(arguments.deadline_ms);
  arguments.loop.stopped = [] { return interrupted != 0; };
  arguments.session.warning = [](const std::string& text) {
    std::fprintf(stderr, "%s\n", text.c_str());
  };
  if (arguments.session.device == "host") arguments.session.report.clear();
  std::signal(SIGINT, [](int) { interrupted = 1; });
  std::signal(SIGTERM, [](int) { interrupted = 1; });
  const clvet::Status done = run(arguments);
  if (!done) std::fprintf(stderr, "clvet_camera: %s\n", done.error().message.c_str());
  if (!done) return 2;
  return interrupted ? 130 : 0;
}
