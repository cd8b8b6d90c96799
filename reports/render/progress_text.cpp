#include "reports/render/progress_text.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/columns.h"
#include "base/event.h"
#include "base/language.h"
#include "base/text.h"

namespace clvet {
namespace {

constexpr double kWindow = 60;   // seconds of work that tell the pace
constexpr double kEarliest = 2;  // seconds
constexpr double kApart = 0.5;   // seconds between two marks

std::string words_of(double seconds) {
  if (seconds < 100) return tr("{} s left", std::ceil(seconds));
  if (seconds < 3600) return tr("{} min left", std::ceil(seconds / 60));
  return tr("{:.1f} h left", seconds / 3600);
}

}  // namespace

void ProgressText::note(const Event& event, double now) {
  const bool other = event.total != total_ || (!marks_.empty() && event.done < marks_.back().done);
  if (other) marks_.clear();
  total_ = event.total;
  while (marks_.size() > 1 && now - marks_[1].time > kWindow) marks_.pop_front();
  if (marks_.size() > 1 && now - marks_[marks_.size() - 2].time < kApart) marks_.pop_back();
  marks_.push_back({now, event.done});
}

std::string ProgressText::time_left(double now) const {
  const int done = marks_.back().done - marks_.front().done;
  const double took = now - marks_.front().time;
  if (done <= 0 || took < kEarliest) return {};
  return words_of(took / done * (total_ - marks_.back().done));
}

std::string ProgressText::line(const Event& event, double now, size_t columns) {
  const std::string text = one_line(translated(event.text));
  if (event.total <= 0) return fit_columns(text, columns);
  note(event, now);
  const int percent = static_cast<int>(int64_t{100} * event.done / event.total);
  std::string share = fmt::format("[{}/{}] {} %", event.done, event.total, percent);
  if (const std::string left = time_left(now); !left.empty()) share += ", " + left;
  return fit_columns(share + ": " + text, columns);
}

}  // namespace clvet
