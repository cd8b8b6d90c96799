// clvet_ocr: reads the text of a picture, on what a report of `clvet probe` allows.
#include <clvet/clvet.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>
#include <string>
#include <utility>

#include "geometry.h"
#include "page_reader.h"
#include "picture.h"

namespace {

// The folder that ci/setup.sh fetches models into.
std::string models_folder() {
  const auto variable = [](const char* name) -> std::string {
    const char* value = std::getenv(name);
    return value ? value : "";
  };
  if (const std::string folder = variable("CLVET_CACHE_DIR"); !folder.empty())
    return folder + "/models";
  if (const std::string folder = variable("XDG_CACHE_HOME"); !folder.empty())
    return folder + "/clvet/models";
  return variable("HOME") + "/.cache/clvet/models";
}

struct Arguments {
  std::string page, models = models_folder(), report, device = "auto", json;
};

// Of all networks; each warning is said once.
clvet::Result<clvet::SessionOptions> session_options(const Arguments& arguments) {
  clvet::SessionOptions options;
  options.device = arguments.device;
  const auto said = std::make_shared<std::set<std::string>>();
  options.warning = [said](const std::string& text) {
    if (said->insert(text).second) std::fprintf(stderr, "%s\n", text.c_str());
  };
  if (arguments.device == "host") return options;
  auto context = clvet::Context::open({.report = arguments.report});
  if (!context) return context.error();
  options.context = std::move(*context);
  return options;
}

nlohmann::ordered_json to_json(const Arguments& arguments, const ocr::PageText& page) {
  nlohmann::ordered_json lines = nlohmann::json::array();
  nlohmann::ordered_json runs = nlohmann::json::array();
  for (const ocr::TextLine& line : page.lines) {
    nlohmann::json box = nlohmann::json::array();
    for (const auto& [s, t] : {std::pair(0, 0), {1, 0}, {1, 1}, {0, 1}}) {
      const ocr::Point corner = line.place.at(s, t);
      box.push_back({corner.x, corner.y});
    }
    lines.push_back(
        {{"text", line.text}, {"score", line.score}, {"turned", line.turned}, {"box", box}});
  }
  for (const ocr::NetworkRun& run : page.runs) {
    runs.push_back({{"device", run.placement.device},
                    {"nodes", run.placement.nodes},
                    {"on_opencl", run.placement.nodes_on_device},
                    {"warnings", run.placement.warnings},
                    {"ms", run.ms}});
  }
  return nlohmann::ordered_json{{"page", arguments.page}, {"lines", lines}, {"runs", runs}};
}

clvet::Status write(const std::string& file, const std::string& text) {
  std::ofstream out(file);
  out << text << std::flush;
  if (out) return {};
  return clvet::Error{clvet::ErrorCode::invalid_argument, file + ": cannot be written"};
}

clvet::Status run(const Arguments& arguments) {
  const auto page = ocr::read_picture(arguments.page);
  if (!page) return page.error();
  const auto options = session_options(arguments);
  if (!options) return options.error();
  auto reader = ocr::PageReader::open(arguments.models, *options);
  if (!reader) return reader.error();
  const auto text = reader->read(*page);
  if (!text) return text.error();
  const std::string json =
      to_json(arguments, *text).dump(1, ' ', false, nlohmann::json::error_handler_t::replace) +
      "\n";
  if (arguments.json == "-") {
    std::fputs(json.c_str(), stdout);
    return {};
  }
  for (const ocr::TextLine& line : text->lines)
    std::printf("%.3f  %s\n", line.score, line.text.c_str());
  return arguments.json.empty() ? clvet::Status() : write(arguments.json, json);
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Reads the text of a page: one line of text a line, with its score before it.");
  app.add_option("page", arguments.page, "PNG or JPEG")->required();
  app.add_option("--models", arguments.models, "folder of the three PP-OCR models")
      ->capture_default_str();
  app.add_option("--report", arguments.report, "report file (default: in the state folder)");
  app.add_option("--device", arguments.device, "auto, host, or a device of the report")
      ->capture_default_str();
  app.add_option("--json", arguments.json,
                 "write texts, boxes and where each network ran here; - is stdout");
  CLI11_PARSE(app, argc, argv);
  const clvet::Status done = run(arguments);
  if (!done) std::fprintf(stderr, "clvet_ocr: %s\n", done.error().message.c_str());
  return done ? 0 : 2;
}
