#include "reports/render/html/frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/embedded.h"
#include "base/hash.h"
#include "base/language.h"
#include "embedded_page_parts.h"
#include "reports/render/html/builder.h"

namespace clvet {
namespace {

// What a browser compares a script with.
std::string sha256_base64(std::string_view text) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const std::string hex = sha256_hex(text) + "00";  // 33 bytes, a multiple of three
  std::string out;
  for (size_t at = 0; at < hex.size(); at += 3) {
    const unsigned bits = static_cast<unsigned>(std::stoul(hex.substr(at, 3), nullptr, 16));
    out += kDigits[bits >> 6];
    out += kDigits[bits & 63];
  }
  out.back() = '=';
  return out;
}

std::string policy_of(const PageFrame& frame) {
  std::string policy = "default-src 'none'; style-src 'unsafe-inline'; script-src";
  for (const std::string& script : frame.scripts)
    policy += fmt::format(" 'sha256-{}'", sha256_base64(script));
  return policy;
}

}  // namespace

std::string_view page_part(std::string_view path) {
  const auto files = embedded_page_parts();
  const auto found = std::find_if(files.begin(), files.end(),
                                  [&](const EmbeddedFile& file) { return file.path == path; });
  return found == files.end() ? std::string_view() : found->text;
}

std::string framed_page(const PageFrame& frame, const std::string& body) {
  Html head;
  head.markup("<!DOCTYPE html>\n").open("html", {{"lang", to_string(language())}}).open("head");
  head.open("meta", {{"charset", "utf-8"}});
  head.open("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
  // Should any text ever slip through as markup, a browser still runs and fetches nothing of it.
  head.open("meta", {{"http-equiv", "Content-Security-Policy"}, {"content", policy_of(frame)}});
  head.markup("\n").element("title", frame.title);
  std::string page =
      fmt::format("{}\n<style>\n{}</style></head>\n<body>\n{}", head.str(), frame.style, body);
  for (const std::string& script : frame.scripts) page += "<script>" + script + "</script>\n";
  return page + "</body></html>\n";
}

}  // namespace clvet
