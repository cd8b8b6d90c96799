#include "page_reader.h"

#include <clvet/clvet.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <ratio>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ctc.h"
#include "geometry.h"
#include "picture.h"
#include "reading_order.h"
#include "text_boxes.h"

namespace ocr {
namespace {

// What the models are used with.
constexpr double kShortSide = 736;    // of a page for detection, at least
constexpr double kLongSide = 4096;    // and its other side, at most
constexpr int kMultiple = 32;         // both sides are multiples
constexpr int kLineHeight = 48;       // of a line for direction and recognition
constexpr int kDirectionWidth = 192;  // longer lines are squeezed
constexpr int kLeastWidth = 320;      // of a line for recognition
constexpr int kMostWidth = 4096;      // longer lines are squeezed
constexpr double kUpright = 1.5;      // height by width from which a line stands on its end
constexpr float kSureOfTurn = 0.9f;
constexpr double kLeastScore = 0.5;
constexpr double kLeastBox = 4;  // pixels of the page
constexpr size_t kBatch = 6;

int to_multiple(double side) {
  return std::max(kMultiple, static_cast<int>(std::lround(side / kMultiple)) * kMultiple);
}

int line_width(const Quad& place) {
  return std::max(1, static_cast<int>(std::ceil(kLineHeight * place.width() / place.height())));
}

// Widths of the parts in a batch whose width is given.
std::vector<int> squeezed(std::span<const Quad> places, int width) {
  std::vector<int> widths;
  for (const Quad& place : places) widths.push_back(std::min(width, line_width(place)));
  return widths;
}

void put_in_order(std::vector<TextLine>& lines) {
  std::vector<Quad> places;
  for (const TextLine& line : lines) places.push_back(line.place);
  std::vector<TextLine> ordered;
  for (const size_t index : reading_order(places)) ordered.push_back(std::move(lines[index]));
  lines = std::move(ordered);
}

}  // namespace

PageReader::PageReader(Network detection, Network direction, Network recognition,
                       std::vector<std::string> characters)
    : detection_(std::move(detection)),
      direction_(std::move(direction)),
      recognition_(std::move(recognition)),
      characters_(std::move(characters)) {}

clvet::Result<PageReader::Network> PageReader::open_network(const std::string& path,
                                                            const clvet::SessionOptions& options) {
  auto session = clvet::Session::open(path, options);
  if (!session) return session.error();
  const auto inputs = session->inputs();
  if (!inputs) return inputs.error();
  const auto outputs = session->outputs();
  if (!outputs) return outputs.error();
  if (inputs->size() != 1 || outputs->size() != 1) {
    return clvet::Error{clvet::ErrorCode::invalid_argument,
                        path + ": not a PP-OCR network, which has one input and one output"};
  }
  return Network{std::move(*session), inputs->front().name, outputs->front().name};
}

clvet::Result<PageReader> PageReader::open(const std::string& models,
                                           const clvet::SessionOptions& options) {
  auto detection = open_network(models + "/ch_PP-OCRv4_det_infer.onnx", options);
  if (!detection) return detection.error();
  auto direction = open_network(models + "/ch_ppocr_mobile_v2.0_cls_infer.onnx", options);
  if (!direction) return direction.error();
  auto recognition = open_network(models + "/ch_PP-OCRv4_rec_infer.onnx", options);
  if (!recognition) return recognition.error();
  auto characters = read_characters(recognition->session);
  if (!characters) return characters.error();
  return PageReader(std::move(*detection), std::move(*direction), std::move(*recognition),
                    std::move(*characters));
}

clvet::Result<clvet::Mapping> PageReader::run(Network& network, std::vector<float> values,
                                              const clvet::Shape& shape, PageText& out) {
  const auto start = std::chrono::steady_clock::now();
  const auto kept = std::make_shared<const std::vector<float>>(std::move(values));
  const std::shared_ptr<const void> data(kept, kept->data());
  clvet::Status done = network.session.set({{network.input, {clvet::DataType::f32, shape, data}}});
  if (done) done = network.session.run();
  if (!done) return done.error();
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  auto placement = network.session.placement();
  if (!placement) return placement.error();
  out.runs.push_back({std::move(*placement), took.count()});
  return network.session.map(network.output, clvet::Access::read);
}

clvet::Result<std::vector<Quad>> PageReader::detect(const Picture& page, PageText& out) {
  const auto [low, high] = std::minmax(page.width, page.height);
  const double scale = std::min(std::max(1.0, kShortSide / low), kLongSide / high);
  const int width = to_multiple(page.width * scale), height = to_multiple(page.height * scale);
  const Quad all = whole(page);
  const auto mapped = run(detection_, network_input(page, {&all, 1}, {&width, 1}, width, height),
                          {1, 3, height, width}, out);
  if (!mapped) return mapped.error();
  const auto map = mapped->as<const float>({1, 1, height, width});
  if (!map) return map.error();
  std::vector<Quad> places;
  for (const Quad& box : find_text_boxes(*map, width, height)) {
    const Quad place = box.scaled(static_cast<double>(page.width) / width,
                                  static_cast<double>(page.height) / height);
    if (std::min(place.width(), place.height()) < kLeastBox) continue;
    const bool on_end = place.height() >= kUpright * place.width();
    places.push_back(on_end ? place.turned_quarter() : place);
  }
  return places;
}

clvet::Result<std::vector<bool>> PageReader::upside_down(const Picture& page,
                                                         const std::vector<Quad>& places,
                                                         PageText& out) {
  const std::vector<int> widths = squeezed(places, kDirectionWidth);
  const auto count = static_cast<int64_t>(places.size());
  const auto mapped =
      run(direction_, network_input(page, places, widths, kDirectionWidth, kLineHeight),
          {count, 3, kLineHeight, kDirectionWidth}, out);
  if (!mapped) return mapped.error();
  const auto classes = mapped->as<const float>({count, 2});
  if (!classes) return classes.error();
  std::vector<bool> turned;
  for (size_t i = 0; i < places.size(); ++i) turned.push_back((*classes)[2 * i + 1] > kSureOfTurn);
  return turned;
}

clvet::Result<std::vector<DecodedText>> PageReader::recognise(const Picture& page,
                                                              const std::vector<Quad>& places,
                                                              PageText& out) {
  int width = kLeastWidth;
  for (const Quad& place : places) width = std::max(width, std::min(kMostWidth, line_width(place)));
  const std::vector<int> widths = squeezed(places, width);
  const auto count = static_cast<int64_t>(places.size());
  const auto mapped = run(recognition_, network_input(page, places, widths, width, kLineHeight),
                          {count, 3, kLineHeight, width}, out);
  if (!mapped) return mapped.error();
  const auto scores = mapped->as<const float>();
  if (!scores) return scores.error();
  const clvet::Shape& shape = mapped->info().shape;
  const auto classes = static_cast<int64_t>(characters_.size()) + 1;
  if (shape.size() != 3 || shape[0] != count || shape[2] != classes) {
    return clvet::Error{clvet::ErrorCode::invalid_argument,
                        "the recognition network's output does not fit the " +
                            std::to_string(classes - 1) + " characters of its metadata"};
  }
  const size_t line = scores->size() / places.size();
  std::vector<DecodedText> texts;
  for (size_t i = 0; i < places.size(); ++i)
    texts.push_back(decode_line(scores->subspan(i * line, line), characters_));
  return texts;
}

clvet::Status PageReader::read_lines(const Picture& page, std::vector<Quad> places, PageText& out) {
  const auto turned = upside_down(page, places, out);
  if (!turned) return turned.error();
  for (size_t i = 0; i < places.size(); ++i) {
    if ((*turned)[i]) places[i] = places[i].turned_half();
  }
  const auto texts = recognise(page, places, out);
  if (!texts) return texts.error();
  for (size_t i = 0; i < places.size(); ++i) {
    const DecodedText& text = (*texts)[i];
    if (text.score >= kLeastScore)
      out.lines.push_back({text.text, text.score, places[i], (*turned)[i]});
  }
  return {};
}

clvet::Result<PageText> PageReader::read(const Picture& page) {
  PageText out;
  const auto all = detect(page, out);
  if (!all) return all.error();
  for (size_t first = 0; first < all->size(); first += kBatch) {
    const auto from = all->begin() + static_cast<std::ptrdiff_t>(first);
    const auto count = static_cast<std::ptrdiff_t>(std::min(kBatch, all->size() - first));
    if (const auto done = read_lines(page, {from, from + count}, out); !done) return done.error();
  }
  put_in_order(out.lines);
  return out;
}

}  // namespace ocr
