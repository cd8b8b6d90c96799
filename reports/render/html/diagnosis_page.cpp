#include "reports/render/html/diagnosis_page.h"

#include <fmt/format.h>

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/language.h"
#include "base/text.h"
#include "reports/render/diagnosis_device_words.h"
#include "reports/render/diagnosis_words.h"
#include "reports/render/html/builder.h"
#include "reports/render/html/diagnosis_advice.h"
#include "reports/render/html/diagnosis_contrasts.h"
#include "reports/render/html/diagnosis_data.h"
#include "reports/render/html/frame.h"
#include "reports/render/html/tables.h"
#include "runtime/precision/diagnosis.h"
#include "runtime/precision/number_format.h"

namespace clvet {
namespace {

constexpr size_t kLongestName = 600;

std::string link_to(size_t node) { return fmt::format("#n{}", node); }

std::string outputs_words(const DiagnosedInput& input) {
  std::string text;
  for (const DiagnosedOutput& output : input.outputs)
    text += fmt::format("{}{} {}", text.empty() ? "" : "; ", shorten(output.name, kLongestName),
                        error_words(output));
  return text;
}

void add_verdict(Html& page, const DiagnosedInput& input) {
  page.open("td", {{"class", input.right && input.in_float32 ? "good" : "dead"}});
  page.element("b", verdict_word(input)).markup(" ");
  page.text(outputs_words(input)).close("td");
}

void add_verdicts(Html& page, const PrecisionDiagnosis& diagnosis) {
  page.open("section", {{"id", "verdicts"}}).element("h2", tr("Verdicts"));
  std::vector<std::string> columns{tr("input"), tr("outputs")};
  if (diagnosis.plan) columns.push_back(tr("with the cure"));
  open_table(page, tr("Each input, at {}", to_string(diagnosis.format)), columns);
  for (size_t i = 0; i < diagnosis.inputs.size(); ++i) {
    const DiagnosedInput& input = diagnosis.inputs[i];
    page.open("tr").element("th", shorten(input.name, kLongestName), {{"scope", "row"}});
    add_verdict(page, input);
    if (diagnosis.plan && i < diagnosis.plan->after.size())
      add_verdict(page, diagnosis.plan->after[i]);
    page.markup("</tr>\n");
  }
  close_table(page);
  for (const std::string& line : float_fault_words(diagnosis))
    page.element("p", line, {{"class", "warning"}});
  page.markup("</section>\n");
}

void add_origin(Html& page, const PrecisionDiagnosis& diagnosis, const ErrorOrigin& origin) {
  const std::vector<std::string> words = origin_words(diagnosis, origin);
  page.open("div", {{"class", "advice"}}).open("p");
  if (origin.node < 0)
    page.element("b", words.front());
  else
    page.element("a", words.front(), {{"href", link_to(static_cast<size_t>(origin.node))}});
  page.markup("</p>\n");
  for (size_t i = 1; i < words.size(); ++i) page.element("p", words[i]);
  page.markup("</div>\n");
}

void add_origins(Html& page, const PrecisionDiagnosis& diagnosis) {
  page.open("section", {{"id", "origins"}}).element("h2", tr("Where the error comes from"));
  for (const ErrorOrigin& origin : diagnosis.origins) add_origin(page, diagnosis, origin);
  for (const std::string& line : no_origin_words(diagnosis)) page.element("p", line);
  page.markup("</section>\n");
  add_contrasts(page, diagnosis);
}

void add_cure(Html& page, const PrecisionDiagnosis& diagnosis) {
  if (!diagnosis.plan) return;
  std::map<std::string_view, size_t> places;
  for (size_t i = 0; i < diagnosis.nodes.size(); ++i) places.emplace(diagnosis.nodes[i].name, i);
  page.open("section", {{"id", "cure"}}).element("h2", tr("The cure"));
  page.element("p", cure_words(diagnosis), {{"class", diagnosis.plan->right ? "best" : "warning"}});
  if (const std::string words = rescale_words(*diagnosis.plan); !words.empty())
    page.element("p", words);
  page.open("ul", {{"class", "raised-nodes"}});
  for (const std::string& name : diagnosis.plan->raised) {
    const auto place = places.find(name);
    if (place == places.end()) continue;
    page.open("li").element("a", shorten(name, kLongestName), {{"href", link_to(place->second)}});
    page.text(" " + diagnosis.nodes[place->second].op).markup("</li>\n");
  }
  page.close("ul").markup("\n");
  if (diagnosis.failing)
    for (const std::string& line : failing_words(*diagnosis.failing)) page.element("p", line);
  page.markup("</section>\n");
}

void add_device(Html& page, const PrecisionDiagnosis& diagnosis) {
  std::vector<std::string> words = device_words(diagnosis);
  if (const std::string stopped = stopped_words(diagnosis); !stopped.empty())
    words.push_back(stopped);
  if (words.empty()) return;
  page.open("section", {{"id", "device"}}).element("h2", tr("On the device"));
  for (const std::string& line : words) page.element("p", line);
  page.markup("</section>\n");
}

void add_search(Html& page) {
  page.open("div", {{"class", "find"}});
  page.open("input", {{"type", "search"},
                      {"id", "search"},
                      {"role", "combobox"},
                      {"autocomplete", "off"},
                      {"aria-controls", "matches"},
                      {"aria-expanded", "false"},
                      {"aria-label", tr("Find a node")},
                      {"placeholder", tr("Find a node: a part of its name or operator")}});
  page.open("ul", {{"id", "matches"}, {"role", "listbox"}, {"hidden", ""}});
  page.markup("</ul></div>\n");
}

void add_choice(Html& page, const std::string& value, const std::string& label, bool chosen) {
  page.open("label");
  if (chosen)
    page.open("input", {{"type", "radio"}, {"name", "colour"}, {"value", value}, {"checked", ""}});
  else
    page.open("input", {{"type", "radio"}, {"name", "colour"}, {"value", value}});
  page.text(" " + label).close("label").markup("\n");
}

void add_controls(Html& page) {
  page.open("div", {{"class", "controls"}});
  add_search(page);
  page.open("fieldset").element("legend", tr("Colour:"));
  add_choice(page, "cumulative", tr("error with all before it"), true);
  add_choice(page, "isolated", tr("its own error"), false);
  page.close("fieldset").open("div", {{"class", "buttons"}});
  const auto button = [&](const char* id, const char* face, const std::string& label) {
    page.element("button", face,
                 {{"type", "button"}, {"id", id}, {"aria-label", label}, {"title", label}});
    page.markup(" ");
  };
  button("closer", "+", tr("Closer"));
  button("farther", "−", tr("Farther"));
  page.element("button", tr("Whole network"), {{"type", "button"}, {"id", "whole"}});
  page.markup("</div></div>\n");
}

void add_picture_legend(Html& page) {
  // The scripts' levels, in their order: STEPS in dom.js.
  const std::pair<const char*, std::string> rows[] = {{"e0", "< 0.001 %"},
                                                      {"e1", "≥ 0.001 %"},
                                                      {"e2", "≥ 0.01 %"},
                                                      {"e3", "≥ 0.1 %"},
                                                      {"e4", "≥ 1 %"},
                                                      {"e5", "≥ 10 %"},
                                                      {"e6", "≥ 100 %"},
                                                      {"lost", tr("not finite")},
                                                      {"plain", tr("no float32 outputs")},
                                                      {"origin", tr("origin")},
                                                      {"raised", tr("float32: part of the cure")},
                                                      {"odd", tr("out of bounds")}};
  page.open("ul", {{"class", "legend"}});
  for (const auto& [kind, label] : rows)
    page.open("li").element("span", label, {{"class", kind}}).close("li");
  page.close("ul").markup("\n");
}

void add_network(Html& page, const PrecisionDiagnosis& diagnosis) {
  page.open("section", {{"id", "network"}});
  page.element("h2", tr("The network: {} nodes", diagnosis.nodes.size()));
  page.element("p",
               tr("Data flows from top to bottom; a tall network goes on at the top of the next "
                  "column. Drag, or use the wheel or two fingers; arrow keys go along the lines."),
               {{"class", "dim"}});
  add_controls(page);
  add_picture_legend(page);
  page.open("div", {{"class", "stage"}});
  page.element("div", "",
               {{"id", "picture"},
                {"tabindex", "0"},
                {"role", "application"},
                {"aria-label", tr("Picture of the network")}});
  page.open("aside", {{"id", "panel"}, {"aria-live", "polite"}});
  page.element("p", tr("Pick a node: its box, or its name in the search field."),
               {{"class", "dim"}});
  page.markup("</aside></div></section>\n");
}

void add_depth(Html& page) {
  page.open("section", {{"id", "depth"}}).element("h2", tr("Error along depth"));
  page.open("ul", {{"class", "key"}});
  page.element("li", tr("error with all before it"), {{"class", "cumulative"}});
  page.element("li", tr("its own error"), {{"class", "isolated"}});
  page.element("li", tr("what rounding explains"), {{"class", "bound"}}).close("ul");
  page.element("div", "", {{"id", "chart"}});
  page.element("p", "", {{"id", "readout"}, {"class", "dim"}}).markup("</section>\n");
}

std::string part(std::string_view name) { return std::string(page_part(name)); }

// The library with its licence, which copies of it must have; then the page's own scripts.
std::vector<std::string> scripts() {
  std::string own;
  for (const char* name :
       {"dom", "layout", "picture", "view", "histogram", "panel", "chart", "search", "main"})
    own += part(fmt::format("diagnosis/{}.js", name));
  return {
      "/*\n" + part("third_party/dagre/LICENSE") + "*/\n" + part("third_party/dagre/dagre.min.js"),
      own};
}

}  // namespace

std::string diagnosis_page(const PrecisionDiagnosis& diagnosis) {
  Html page;
  const std::string model(file_name_of(diagnosis.model));
  page.open("header").element("h1", tr("Precision of {}", shorten(model, kLongestName)));
  page.element("p",
               tr("{} · policy {} · {} on {} · an output is right up to an error of {}",
                  diagnosis.model, to_string(diagnosis.policy), to_string(diagnosis.format),
                  translated(diagnosis.place), percent(diagnosis.target)),
               {{"class", "dim"}});
  page.close("header").markup("\n<main>\n");
  page.open("noscript").element("p", tr("The picture needs scripts."), {{"class", "warning"}});
  page.close("noscript");
  add_verdicts(page, diagnosis);
  add_origins(page, diagnosis);
  add_cure(page, diagnosis);
  add_device(page, diagnosis);
  add_advice(page, diagnosis);
  add_network(page, diagnosis);
  add_depth(page);
  page.markup("</main>\n").data("data", diagnosis_data(diagnosis)).markup("\n");
  return framed_page({tr("Precision of {}", shorten(model, kLongestName)),
                      part("page.css") + part("diagnosis/page.css"), scripts()},
                     page.str());
}

}  // namespace clvet
