#include "tests/reports/render/page_reader.h"

#include <fmt/format.h>

#include <cctype>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace clvet::test {
namespace {

const std::set<std::string> kVoid{"meta", "br", "wbr", "input"};
const std::map<std::string, std::string> kEntities{
    {"lt", "<"}, {"gt", ">"}, {"amp", "&"}, {"quot", "\""}, {"#39", "'"}};

class Reader {
 public:
  explicit Reader(const std::string& page) : in_(page) {}

  Page read() {
    if (take("<!DOCTYPE html>")) {
      while (page_.fault.empty() && at_ < in_.size()) step();
    } else {
      fail("no doctype");
    }
    if (page_.fault.empty() && !open_.empty()) fail(open_.back() + " is not closed");
    return std::move(page_);
  }

 private:
  void fail(const std::string& what) {
    if (page_.fault.empty()) page_.fault = fmt::format("{} at byte {}", what, at_);
  }

  bool take(const std::string& literal) {
    if (in_.compare(at_, literal.size(), literal) != 0) return false;
    at_ += literal.size();
    return true;
  }

  void step() {
    if (take("</")) {
      close();
    } else if (take("<")) {
      open();
    } else {
      page_.text += character("<");
    }
  }

  // One character or entity; those in `bad` may not stand by themselves.
  std::string character(const std::string& bad) {
    const char c = in_[at_];
    if (bad.find(c) != std::string::npos) fail(fmt::format("a bare {}", c));
    if (c != '&') {
      ++at_;
      return {c};
    }
    const size_t end = in_.find(';', at_);
    const auto found = kEntities.find(in_.substr(at_ + 1, end - at_ - 1));
    if (end == std::string::npos || found == kEntities.end()) {
      fail("a bare &");
      ++at_;
      return "&";
    }
    at_ = end + 1;
    return found->second;
  }

  std::string name() {
    std::string out;
    while (at_ < in_.size() &&
           (std::isalnum(static_cast<unsigned char>(in_[at_])) || in_[at_] == '-'))
      out += in_[at_++];
    if (out.empty()) fail("no name");
    return out;
  }

  void close() {
    const std::string tag = name();
    if (!take(">")) fail("no end of a closing tag");
    if (open_.empty() || open_.back() != tag) return fail("</" + tag + "> closes nothing");
    open_.pop_back();
    page_.text += ' ';
  }

  void open() {
    Tag tag{name(), {}};
    while (page_.fault.empty() && take(" ")) attribute(tag);
    if (!take(">")) fail("no end of a tag");
    if (kVoid.count(tag.name) == 0) open_.push_back(tag.name);
    if (tag.name == "style") raw("</style", page_.style);
    if (tag.name == "script") raw("</script", page_.script);
    page_.tags.push_back(std::move(tag));
  }

  void attribute(Tag& tag) {
    const std::string key = name();
    std::string value;
    if (take("=\"")) {
      while (page_.fault.empty() && at_ < in_.size() && in_[at_] != '"') value += character("<");
      ++at_;
    }
    if (!tag.attributes.emplace(key, value).second) fail(key + " stands twice");
  }

  void raw(const std::string& end, std::string& out) {
    const size_t stop = in_.find(end, at_);
    if (stop == std::string::npos) return fail("no " + end);
    out += in_.substr(at_, stop - at_);
    at_ = stop;
  }

  const std::string& in_;
  size_t at_ = 0;
  std::vector<std::string> open_;
  Page page_;
};

}  // namespace

Page read_page(const std::string& page) { return Reader(page).read(); }

std::multiset<std::string> markup_of(const Page& page) {
  std::multiset<std::string> all;
  for (const Tag& tag : page.tags) {
    std::string words = tag.name;
    for (const auto& [name, value] : tag.attributes) words += " " + name;
    all.insert(words);
  }
  return all;
}

std::string base64_of_hex(const std::string& hex) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bits, out;
  for (const char c : hex) {
    const int value = std::stoi(std::string(1, c), nullptr, 16);
    for (int bit = 3; bit >= 0; --bit) bits += (value >> bit & 1) ? '1' : '0';
  }
  while (bits.size() % 6) bits += '0';
  for (size_t at = 0; at < bits.size(); at += 6)
    out += digits[std::stoul(bits.substr(at, 6), nullptr, 2)];
  while (out.size() % 4) out += '=';
  return out;
}

}  // namespace clvet::test
