#include "probe/report/report_snapshot.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/hash.h"
#include "base/packed.h"
#include "base/result.h"
#include "base/version.h"
#include "kernels/catalog.h"
#include "probe/report/report.h"
#include "probe/report/report_json.h"

namespace clvet {
namespace {

constexpr std::string_view kMagic("CLVETRS\0", 8);
constexpr uint32_t kForm = 2;         // of the members below
constexpr size_t kLeastVerdict = 32;  // bytes

template <class Archive, class Error>
void members_of_error(Archive& archive, Error& error) {
  archive(error.max_abs, error.max_ulp, error.bound, error.first_bad, error.first_value);
}

// All members of a verdict, each read or written in turn.
template <class Archive, class Row>
void members(Archive& archive, Row& row) {
  auto& evidence = row.evidence;
  archive(row.id, row.device, row.case_name, row.op, row.kernel, row.variant_key,
          row.combination.precision, row.combination.memory, row.combination.activations,
          row.combination.weights, row.weight_type, row.constructs, row.trial_only, row.verdict,
          row.stage, row.attempts, row.repeats, evidence.signal, evidence.exit_status,
          evidence.cl_error, evidence.call, evidence.log, evidence.stderr_text, evidence.error,
          evidence.wall_ms, evidence.cpu_ms, evidence.note, row.median_ms, row.spread_ms,
          row.piped_ms, row.launch_ms, row.piped_launch_ms, row.gflops);
}

// Texts, most of which many rows share, stand once, and rows hold their numbers.
class Writer {
 public:
  template <class... Values>
  void operator()(const Values&... values) {
    (put(values), ...);
  }
  template <class Value>
  void put(const Value& value) {
    put_packed(value, rows_);
  }
  void put(const ErrorEvidence& error) { members_of_error(*this, error); }
  template <class Value>
  void put(const std::optional<Value>& value) {
    put(value.has_value());
    if (value) put(*value);
  }
  void put(const std::string& text) {
    const auto [found, is_new] = numbers_.try_emplace(text, static_cast<uint32_t>(numbers_.size()));
    if (is_new) texts_.push_back(text);
    put(found->second);
  }
  void put(const std::vector<std::string>& texts) {
    put(static_cast<uint32_t>(texts.size()));
    for (const std::string& text : texts) put(text);
  }

  // The texts, and behind them the rows.
  std::string all() const {
    Writer table;
    table.put(static_cast<uint32_t>(texts_.size()));
    for (const std::string& text : texts_) {
      table.put(static_cast<uint32_t>(text.size()));
      table.rows_ += text;
    }
    return table.rows_ + rows_;
  }

 private:
  std::string rows_;
  std::map<std::string, uint32_t> numbers_;
  std::vector<std::string> texts_;
};

class Reader {
 public:
  explicit Reader(std::string_view text) : left_(text) {
    for (uint32_t left = take<uint32_t>(); ok_ && left > 0; --left)
      texts_.push_back(bytes(take<uint32_t>()));
  }

  template <class... Values>
  void operator()(Values&... values) {
    (get(values), ...);
  }
  template <class Value>
  void get(Value& value) {
    ok_ = ok_ && take_packed(left_, value);
  }
  void get(ErrorEvidence& error) { members_of_error(*this, error); }
  template <class Value>
  void get(std::optional<Value>& value) {
    if (take<bool>()) get(value.emplace());
  }
  void get(std::string& text) {
    const auto number = take<uint32_t>();
    ok_ &= number < texts_.size();
    if (ok_) text = texts_[number];
  }
  void get(std::vector<std::string>& texts) {
    for (uint32_t left = take<uint32_t>(); ok_ && left > 0; --left) get(texts.emplace_back());
  }

  template <class Value>
  Value take() {
    Value value{};
    get(value);
    return value;
  }
  std::string_view bytes(size_t size) {
    ok_ &= size <= left_.size();
    if (!ok_) return {};
    const std::string_view taken = left_.substr(0, size);
    left_.remove_prefix(size);
    return taken;
  }
  bool ok() const { return ok_; }
  bool at_end() const { return ok_ && left_.empty(); }
  size_t left() const { return left_.size(); }

 private:
  std::string_view left_;
  std::vector<std::string_view> texts_;
  bool ok_ = true;
};

// Which file and which program a snapshot is of.
std::string head_of(const FileState& state) {
  std::string head(kMagic);
  head += fmt::format("{} {} {} {} {} {} {} {} {}\n", kForm, sizeof(VerdictReport), kVersion,
                      kernel_set(), state.device, state.inode, state.size, state.mtime_ns,
                      state.ctime_ns);
  return head;
}

tl::unexpected<Error> no_snapshot(const char* why) {
  return fail(ErrorCode::kInvalidArgument, "no snapshot of this report: {}", why);
}

}  // namespace

std::optional<FileState> file_state(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return std::nullopt;
  return FileState{info.st_dev, info.st_ino, static_cast<uint64_t>(info.st_size),
                   nanoseconds(info.st_mtim), nanoseconds(info.st_ctim)};
}

std::string snapshot_of(const Report& report, const FileState& state) {
  Report rest = report;
  rest.verdicts.clear();
  Writer writer;
  writer.put(report_to_json(rest));
  writer.put(static_cast<uint32_t>(report.verdicts.size()));
  for (const VerdictReport& row : report.verdicts) members(writer, row);
  return sealed(head_of(state) + writer.all());
}

Result<Report> report_of_snapshot(std::string_view text, const FileState& state) {
  const std::string head = head_of(state);
  if (!text.starts_with(head)) return no_snapshot("another state of it, or another program");
  const auto all = unsealed(text);
  if (!all || all->size() < head.size()) return no_snapshot("it is cut off or damaged");
  Reader reader(all->substr(head.size()));
  const auto json = reader.take<std::string>();
  if (!reader.ok()) return no_snapshot("it is cut off or damaged");
  CLVET_ASSIGN_OR_RETURN(Report report, report_from_json(json, "the snapshot"));
  const auto count = reader.take<uint32_t>();
  report.verdicts.reserve(std::min<size_t>(count, reader.left() / kLeastVerdict));
  for (uint32_t left = count; reader.ok() && left > 0; --left)
    members(reader, report.verdicts.emplace_back());
  if (!reader.at_end()) return no_snapshot("it is cut off or damaged");
  return report;
}

}  // namespace clvet
