#include "samples/ocr/page_reader.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "probe/report/report.h"
#include "runtime/decode/ctc.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/onnx/reader.h"
#include "runtime/run/run_model.h"
#include "samples/ocr/geometry.h"
#include "samples/ocr/picture.h"
#include "samples/ocr/reading_order.h"
#include "samples/ocr/text_boxes.h"

namespace clvet::ocr {
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

Result<Tensor> run(const Graph& graph, const Tensor& input, const Report* report,
                   const ModelRunOptions& options, PageText& out) {
  if (graph.inputs.size() != 1 || graph.outputs.size() != 1) {
    return fail(ErrorCode::kInvalidArgument, "'{}' is not a PP-OCR network: one input, one output",
                graph.name);
  }
  const std::string& name = graph.values[static_cast<size_t>(graph.inputs[0])].name;
  CLVET_ASSIGN_OR_RETURN(ModelRun result, run_model(graph, {{name, input}}, report, options));
  out.runs.push_back(std::move(result.record));
  return result.outputs.begin()->second;
}

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

Result<Graph> read_model(const std::string& models, const char* file) {
  return read_onnx(models + "/" + file);
}

}  // namespace

Result<PageReader> PageReader::open(const std::string& models) {
  PageReader reader;
  CLVET_ASSIGN_OR_RETURN(reader.detection_, read_model(models, "ch_PP-OCRv4_det_infer.onnx"));
  CLVET_ASSIGN_OR_RETURN(reader.direction_,
                         read_model(models, "ch_ppocr_mobile_v2.0_cls_infer.onnx"));
  CLVET_ASSIGN_OR_RETURN(reader.recognition_, read_model(models, "ch_PP-OCRv4_rec_infer.onnx"));
  CLVET_ASSIGN_OR_RETURN(reader.characters_, ctc_characters(reader.recognition_));
  return reader;
}

Result<std::vector<Quad>> PageReader::detect(const Picture& page, const Report* report,
                                             const ModelRunOptions& options, PageText& out) const {
  const auto [low, high] = std::minmax(page.width, page.height);
  const double scale = std::min(std::max(1.0, kShortSide / low), kLongSide / high);
  const int width = to_multiple(page.width * scale), height = to_multiple(page.height * scale);
  const Quad all = whole(page);
  CLVET_ASSIGN_OR_RETURN(const Tensor input,
                         network_input(page, {&all, 1}, {&width, 1}, width, height));
  CLVET_ASSIGN_OR_RETURN(const Tensor map, run(detection_, input, report, options, out));
  if (map.shape() != Shape{1, 1, height, width} || map.dtype() != DType::kF32) {
    return fail(ErrorCode::kInvalidArgument, "the detection network gave {}, not f32[1,1,{},{}]",
                to_string(map.type()), height, width);
  }
  std::vector<Quad> places;
  for (const Quad& box : find_text_boxes(map.values<float>(), width, height)) {
    const Quad place = box.scaled(static_cast<double>(page.width) / width,
                                  static_cast<double>(page.height) / height);
    if (std::min(place.width(), place.height()) < kLeastBox) continue;
    const bool on_end = place.height() >= kUpright * place.width();
    places.push_back(on_end ? place.turned_quarter() : place);
  }
  return places;
}

Result<std::vector<bool>> PageReader::upside_down(const Picture& page,
                                                  const std::vector<Quad>& places,
                                                  const Report* report,
                                                  const ModelRunOptions& options,
                                                  PageText& out) const {
  const std::vector<int> widths = squeezed(places, kDirectionWidth);
  CLVET_ASSIGN_OR_RETURN(const Tensor input,
                         network_input(page, places, widths, kDirectionWidth, kLineHeight));
  CLVET_ASSIGN_OR_RETURN(const Tensor classes, run(direction_, input, report, options, out));
  const auto count = static_cast<int64_t>(places.size());
  if (classes.shape() != Shape{count, 2} || classes.dtype() != DType::kF32) {
    return fail(ErrorCode::kInvalidArgument, "the direction network gave {}, not f32[{},2]",
                to_string(classes.type()), count);
  }
  std::vector<bool> turned;
  for (int64_t i = 0; i < count; ++i) {
    turned.push_back(classes.data<float>()[2 * i + 1] > kSureOfTurn);
  }
  return turned;
}

Result<std::vector<DecodedText>> PageReader::recognise(const Picture& page,
                                                       const std::vector<Quad>& places,
                                                       const Report* report,
                                                       const ModelRunOptions& options,
                                                       PageText& out) const {
  int width = kLeastWidth;
  for (const Quad& place : places) width = std::max(width, std::min(kMostWidth, line_width(place)));
  const std::vector<int> widths = squeezed(places, width);
  CLVET_ASSIGN_OR_RETURN(const Tensor input,
                         network_input(page, places, widths, width, kLineHeight));
  CLVET_ASSIGN_OR_RETURN(const Tensor scores, run(recognition_, input, report, options, out));
  CLVET_ASSIGN_OR_RETURN(auto texts, decode_ctc(scores, characters_));
  if (texts.size() != places.size()) {
    return fail(ErrorCode::kInvalidArgument, "the recognition network gave {} for {} lines",
                to_string(scores.type()), places.size());
  }
  return texts;
}

Result<PageText> PageReader::read(const Picture& page, const Report* report,
                                  const ModelRunOptions& options) const {
  PageText out;
  CLVET_ASSIGN_OR_RETURN(const auto all, detect(page, report, options, out));
  for (size_t first = 0; first < all.size(); first += kBatch) {
    const auto from = all.begin() + static_cast<std::ptrdiff_t>(first);
    const auto count = static_cast<std::ptrdiff_t>(std::min(kBatch, all.size() - first));
    std::vector<Quad> places(from, from + count);
    CLVET_ASSIGN_OR_RETURN(const auto turned, upside_down(page, places, report, options, out));
    for (size_t i = 0; i < places.size(); ++i) {
      if (turned[i]) places[i] = places[i].turned_half();
    }
    CLVET_ASSIGN_OR_RETURN(const auto texts, recognise(page, places, report, options, out));
    for (size_t i = 0; i < places.size(); ++i) {
      if (texts[i].score < kLeastScore) continue;
      out.lines.push_back({texts[i].text, texts[i].score, places[i], turned[i]});
    }
  }
  put_in_order(out.lines);
  return out;
}

}  // namespace clvet::ocr
