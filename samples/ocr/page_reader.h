// Page -> boxes -> text, with PP-OCR's three networks.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "probe/report/report.h"
#include "runtime/decode/ctc.h"
#include "runtime/graph/graph.h"
#include "runtime/run/run_model.h"
#include "runtime/run/run_record.h"
#include "samples/ocr/geometry.h"
#include "samples/ocr/picture.h"

namespace clvet::ocr {

struct TextLine {
  std::string text;
  double score = 0;
  Quad place;           // on the page, the text's own left to right along `across`
  bool turned = false;  // it stood upside down
};

struct PageText {
  std::vector<TextLine> lines;  // in order of reading
  std::vector<RunRecord> runs;  // detection, direction, recognition, as far as they were needed
};

class PageReader {
 public:
  // Reads the three model files of a folder, under the names they are published with. Errors name
  // the file.
  static Result<PageReader> open(const std::string& models);

  // `report` may be null for the host. Lines whose text scores less than 0.5 are left out.
  Result<PageText> read(const Picture& page, const Report* report,
                        const ModelRunOptions& options) const;

 private:
  Result<std::vector<Quad>> detect(const Picture& page, const Report* report,
                                   const ModelRunOptions& options, PageText& out) const;
  Result<std::vector<bool>> upside_down(const Picture& page, const std::vector<Quad>& places,
                                        const Report* report, const ModelRunOptions& options,
                                        PageText& out) const;
  Result<std::vector<DecodedText>> recognise(const Picture& page, const std::vector<Quad>& places,
                                             const Report* report, const ModelRunOptions& options,
                                             PageText& out) const;

  Graph detection_, direction_, recognition_;
  std::vector<std::string> characters_;
};

}  // namespace clvet::ocr
