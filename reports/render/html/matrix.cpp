// Operations against combinations: a table for each precision, a column for each way to hold
// activations and weights. An operation without weights has one cell for each storage of its
// activations.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "base/language.h"
#include "base/text.h"
#include "kernels/combination.h"
#include "probe/report/report.h"
#include "reports/render/html/builder.h"
#include "reports/render/html/parts.h"
#include "reports/render/html/tables.h"
#include "reports/render/shown.h"
#include "reports/render/verdict_matrix.h"
#include "reports/render/verdict_words.h"

namespace clvet {
namespace {

using Counts = std::map<Verdict, int>;

constexpr std::array kStorages{Storage::kBuffer, Storage::kImage};
constexpr std::array kMemories{Memory::kLow, Memory::kNormal};

struct PrecisionNote {
  Precision precision;
  const char* text;
};
constexpr std::array<PrecisionNote, 3> kNotes{
    {{Precision::kLow, "half-precision storage and arithmetic"},
     {Precision::kNormal, "half-precision storage, float arithmetic"},
     {Precision::kHigh, "float storage and arithmetic"}}};

// Finds the evidence of a cell's failures.
class Anchors {
 public:
  Anchors(const std::vector<FailureKind>& failures, const std::string& id) {
    for (size_t kind = 0; kind < failures.size(); ++kind) {
      for (size_t group = 0; group < failures[kind].groups.size(); ++group) {
        const FailureGroup& row = failures[kind].groups[group];
        for (const std::string& name : {row.kernel, row.cases.front()->op}) {
          anchors_.try_emplace({name, row.combination, failures[kind].verdict},
                               evidence_anchor(id, kind, group));
        }
      }
    }
  }
  std::string find(const std::string& row, const Combination& combination, Verdict verdict) const {
    const auto found = anchors_.find({row, combination, verdict});
    return found == anchors_.end() ? std::string() : found->second;
  }

 private:
  std::map<std::tuple<std::string, Combination, Verdict>, std::string> anchors_;
};

void add_count(Html& page, const VerdictWord& word, int count, const std::string& anchor) {
  if (!anchor.empty()) page.open("a", {{"href", "#" + anchor}});
  page.element("abbr", std::string(1, word.letter), {{"title", shown(word.verdict)}});
  page.text(fmt::format(" {}", count));
  if (!anchor.empty()) page.close("a");
}

int total_of(const Counts& counts) {
  int total = 0;
  for (const auto& [verdict, count] : counts) total += count;
  return total;
}

const VerdictWord& gravest_of(const Counts& counts) {
  return *std::find_if(verdict_words().begin(), verdict_words().end(),
                       [&](const auto& word) { return counts.count(word.verdict) > 0; });
}

void add_cell(Html& page, const MatrixRow& row, const Combination& combination, int columns,
              const Anchors& anchors) {
  const auto found = row.cells.find(combination);
  const std::string span = std::to_string(columns);
  if (found == row.cells.end()) {
    page.open("td", {{"colspan", span}, {"class", "empty"}}).close("td");
    return;
  }
  const VerdictWord& gravest = gravest_of(found->second);
  Html counts;
  for (const VerdictWord& word : verdict_words()) {
    const auto count = found->second.find(word.verdict);
    const bool shown = &word == &gravest || is_failure(word.verdict);
    if (count == found->second.end() || !shown) continue;
    if (!counts.empty()) counts.markup("<br>");
    add_count(counts, word, count->second, anchors.find(row.name, combination, word.verdict));
  }
  page.open("td", {{"colspan", span}, {"class", gravest.tone}}).add(counts);
  const int total = total_of(found->second);
  if (total > found->second.at(gravest.verdict)) {
    page.element("small", " / " + std::to_string(total));
  }
  page.close("td");
}

// A name may go on in the next line after each '_'.
void add_name(Html& page, const std::string& name) {
  const std::vector<std::string> parts = split(name, '_');
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) page.text("_").markup("<wbr>");
    page.text(parts[i]);
  }
}

void add_row(Html& page, const MatrixRow& row, Precision precision, bool wide,
             const Anchors& anchors) {
  page.open("tr").open("th", {{"scope", "row"}});
  add_name(page, row.name);
  page.close("th");
  for (const Storage activations : kStorages) {
    if (!row.weights) {
      add_cell(page, row, {precision, std::nullopt, activations, std::nullopt}, wide ? 4 : 1,
               anchors);
      continue;
    }
    for (const Memory memory : kMemories) {
      for (const Storage weights : kStorages) {
        add_cell(page, row, {precision, memory, activations, weights}, 1, anchors);
      }
    }
  }
  page.markup("</tr>\n");
}

void add_heading(Html& page, const std::string& label, int repeats, int columns,
                 std::initializer_list<const char*> words) {
  page.open("tr").element("th", label, {{"scope", "row"}});
  for (int i = 0; i < repeats; ++i) {
    for (const char* word : words) {
      page.element(
          "th", word,
          {{"scope", columns > 1 ? "colgroup" : "col"}, {"colspan", std::to_string(columns)}});
    }
  }
  page.markup("</tr>\n");
}

void add_table(Html& page, const std::vector<const MatrixRow*>& rows, const PrecisionNote& note,
               const Anchors& anchors) {
  const bool wide =
      std::any_of(rows.begin(), rows.end(), [](const MatrixRow* row) { return row->weights; });
  open_wide(page, tr("verdicts at precision {}", to_string(note.precision)));
  page.open("table", {{"class", "matrix"}}).open("caption").text(tr("precision")).markup(" ");
  page.element("b", to_string(note.precision)).text(": " + translated(note.text));
  page.markup("</caption><thead>\n");
  add_heading(page, tr("activations"), 1, wide ? 4 : 1, {"buffer", "image"});
  if (wide) {
    add_heading(page, tr("memory"), 2, 2, {"low", "normal"});
    add_heading(page, tr("weights"), 4, 1, {"buffer", "image"});
  }
  page.markup("</thead><tbody>\n");
  for (const MatrixRow* row : rows) add_row(page, *row, note.precision, wide, anchors);
  close_table(page);
}

std::vector<const MatrixRow*> rows_at(const std::vector<MatrixRow>& rows, Precision precision) {
  std::vector<const MatrixRow*> present;
  for (const MatrixRow& row : rows) {
    if (std::any_of(row.cells.begin(), row.cells.end(),
                    [&](const auto& cell) { return cell.first.precision == precision; }))
      present.push_back(&row);
  }
  return present;
}

// True where the device can try anything at this precision.
bool any_supported(const std::vector<MatrixRow>& rows, Precision precision) {
  for (const MatrixRow& row : rows) {
    for (const auto& [combination, counts] : row.cells) {
      if (combination.precision != precision) continue;
      if (counts.size() > counts.count(Verdict::kUnsupported)) return true;
    }
  }
  return false;
}

}  // namespace

void add_legend(Html& page, const std::vector<MatrixRow>& rows) {
  std::set<Verdict> present;
  for (const MatrixRow& row : rows) {
    for (const auto& [combination, counts] : row.cells) {
      for (const auto& [verdict, count] : counts) present.insert(verdict);
    }
  }
  page.open("ul", {{"class", "legend"}});
  for (const VerdictWord& word : verdict_words()) {
    if (present.count(word.verdict) == 0) continue;
    page.open("li").open("span", {{"class", word.tone}});
    page.element("b", std::string(1, word.letter)).close("span").markup(" ");
    page.element("b", shown(word.verdict)).text(": " + translated(word.meaning));
    page.markup("</li>\n");
  }
  page.markup("</ul>\n");
}

void add_matrix(Html& page, const std::vector<MatrixRow>& rows,
                const std::vector<FailureKind>& failures, const std::string& id) {
  const Anchors anchors(failures, id);
  auto notes = kNotes;
  std::stable_partition(notes.begin(), notes.end(), [&](const PrecisionNote& note) {
    return any_supported(rows, note.precision);
  });
  page.open("div", {{"class", "matrices"}});
  for (const PrecisionNote& note : notes) {
    const auto present = rows_at(rows, note.precision);
    if (!present.empty()) add_table(page, present, note, anchors);
  }
  page.markup("</div>\n");
}

}  // namespace clvet
