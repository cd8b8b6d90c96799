#include "tests/fakes/tokens.h"

#include <cctype>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

namespace fake_cl {
namespace {

bool name_start(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool name_part(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

size_t number_end(std::string_view s, size_t i) {
  while (i < s.size()) {
    const bool sign = (s[i] == '+' || s[i] == '-') && std::strchr("eEpP", s[i - 1]) != nullptr;
    if (!name_part(s[i]) && s[i] != '.' && !sign) break;
    ++i;
  }
  return i;
}

size_t string_end(std::string_view s, size_t i) {
  const char quote = s[i++];
  while (i < s.size() && s[i] != quote && s[i] != '\n') i += s[i] == '\\' ? 2 : 1;
  return i < s.size() ? i + 1 : s.size();
}

size_t punct_end(std::string_view s, size_t i) {
  static const char* const kLong[] = {"<<=", ">>=", "...", "##", "->", "++", "--", "<<",
                                      ">>",  "<=",  ">=",  "==", "!=", "&&", "||", "+=",
                                      "-=",  "*=",  "/=",  "%=", "&=", "|=", "^="};
  for (const char* p : kLong) {
    if (s.substr(i, std::strlen(p)) == p) return i + std::strlen(p);
  }
  return i + 1;
}

}  // namespace

Tokens tokenize(std::string_view s) {
  Tokens out;
  bool space = false;
  for (size_t i = 0; i < s.size();) {
    const char c = s[i];
    if (std::isspace(static_cast<unsigned char>(c))) {
      space = true;
      ++i;
      continue;
    }
    Token token;
    size_t end = i + 1;
    if (name_start(c)) {
      token.kind = Token::Kind::kName;
      while (end < s.size() && name_part(s[end])) ++end;
    } else if (std::isdigit(static_cast<unsigned char>(c)) ||
               (c == '.' && i + 1 < s.size() &&
                std::isdigit(static_cast<unsigned char>(s[i + 1])))) {
      token.kind = Token::Kind::kNumber;
      end = number_end(s, i + 1);
    } else if (c == '"' || c == '\'') {
      token.kind = Token::Kind::kString;
      end = string_end(s, i);
    } else {
      end = punct_end(s, i);
    }
    token.text.assign(s.substr(i, end - i));
    token.space_before = space;
    space = false;
    out.push_back(std::move(token));
    i = end;
  }
  return out;
}

std::string strip_comments(std::string_view s) {
  std::string out;
  out.reserve(s.size());
  for (size_t i = 0; i < s.size();) {
    const auto two = s.substr(i, 2);
    if (two == "\\\n") {
      i += 2;
    } else if (s.substr(i, 3) == "\\\r\n") {
      i += 3;
    } else if (two == "//") {
      while (i < s.size() && s[i] != '\n') i += s.substr(i, 2) == "\\\n" ? 2 : 1;
    } else if (two == "/*") {
      const size_t end = s.find("*/", i + 2);
      const auto comment = s.substr(i, end == s.npos ? s.npos : end + 2 - i);
      out += ' ';
      for (char c : comment) {
        if (c == '\n') out += c;
      }
      i += comment.size();
    } else if (s[i] == '"') {
      const size_t end = string_end(s, i);
      out.append(s.substr(i, end - i));
      i = end;
    } else {
      out += s[i++];
    }
  }
  return out;
}

std::string join(const Tokens& tokens) {
  std::string out;
  for (const Token& token : tokens) {
    out += token.text;
    out += token.is(";") || token.is("{") || token.is("}") ? '\n' : ' ';
  }
  return out;
}

std::vector<std::string> split_options(std::string_view options) {
  std::vector<std::string> out;
  std::string word;
  bool quoted = false, any = false;
  for (char c : options) {
    if (c == '"') {
      quoted = !quoted;
      any = true;
    } else if (!quoted && std::isspace(static_cast<unsigned char>(c))) {
      if (any) out.push_back(word);
      word.clear();
      any = false;
    } else {
      word += c;
      any = true;
    }
  }
  if (any) out.push_back(word);
  return out;
}

}  // namespace fake_cl
