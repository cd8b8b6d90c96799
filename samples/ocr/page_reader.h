// Page -> boxes -> text, with PP-OCR's three networks.
#pragma once

#include <clvet/clvet.h>

#include <string>
#include <vector>

#include "ctc.h"
#include "geometry.h"
#include "picture.h"

namespace ocr {

struct TextLine {
  std::string text;
  double score = 0;
  Quad place;           // on the page, the text's own left to right along `across`
  bool turned = false;  // it stood upside down
};

struct NetworkRun {
  clvet::Placement placement;
  double ms = 0;
};

struct PageText {
  std::vector<TextLine> lines;   // in order of reading
  std::vector<NetworkRun> runs;  // detection, direction, recognition, as far as they were needed
};

class PageReader {
 public:
  // Opens the three networks of a folder, under the names they are published with.
  static clvet::Result<PageReader> open(const std::string& models,
                                        const clvet::SessionOptions& options);

  // Lines whose text scores less than 0.5 are left out.
  clvet::Result<PageText> read(const Picture& page);

 private:
  struct Network {
    clvet::Session session;
    std::string input, output;
  };
  static clvet::Result<Network> open_network(const std::string& path,
                                             const clvet::SessionOptions& options);
  // Each holds its input's values and its output's until the next run.
  static clvet::Result<clvet::Mapping> run(Network& network, std::vector<float> values,
                                           const clvet::Shape& shape, PageText& out);

  PageReader(Network detection, Network direction, Network recognition,
             std::vector<std::string> characters);
  clvet::Result<std::vector<Quad>> detect(const Picture& page, PageText& out);
  clvet::Result<std::vector<bool>> upside_down(const Picture& page, const std::vector<Quad>& places,
                                               PageText& out);
  clvet::Result<std::vector<DecodedText>> recognise(const Picture& page,
                                                    const std::vector<Quad>& places, PageText& out);
  clvet::Status read_lines(const Picture& page, std::vector<Quad> places, PageText& out);

  Network detection_, direction_, recognition_;
  std::vector<std::string> characters_;
};

}  // namespace ocr
