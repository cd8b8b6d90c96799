#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/fakes/tokens.h"

namespace fake_cl {
namespace {

struct Macro {
  bool function = false;
  bool variadic = false;
  std::vector<std::string> params;
  Tokens body;
};
using Macros = std::map<std::string, Macro, std::less<>>;

void hide(Tokens& tokens, const std::vector<std::string>& names) {
  for (Token& token : tokens) {
    for (const auto& name : names) {
      if (std::find(token.hidden.begin(), token.hidden.end(), name) == token.hidden.end()) {
        token.hidden.push_back(name);
      }
    }
  }
}

class Expander {
 public:
  explicit Expander(const Macros& macros) : macros_(macros) {}

  // Expands `input` completely; `pending` marks where a call's arguments run past its end.
  Tokens expand(Tokens input) {
    Tokens out;
    Tokens stack(input.rbegin(), input.rend());
    while (!stack.empty()) {
      Token token = std::move(stack.back());
      stack.pop_back();
      const Macro* macro = usable(token);
      if (!macro) {
        out.push_back(std::move(token));
        continue;
      }
      std::vector<Tokens> args;
      if (macro->function && !take_arguments(stack, *macro, args)) {
        out.push_back(std::move(token));
        continue;
      }
      Tokens body = substitute(*macro, args);
      auto names = token.hidden;
      names.push_back(token.text);
      hide(body, names);
      if (!body.empty()) body.front().space_before = token.space_before;
      stack.insert(stack.end(), std::make_move_iterator(body.rbegin()),
                   std::make_move_iterator(body.rend()));
    }
    return out;
  }

  // True where the line ends inside the arguments of a macro call, so that more lines are needed.
  bool unfinished(const Tokens& line) const {
    for (size_t i = 0; i < line.size(); ++i) {
      const Macro* macro = usable(line[i]);
      if (!macro || !macro->function) continue;
      if (i + 1 == line.size()) return true;
      if (!line[i + 1].is("(")) continue;
      int depth = 0;
      size_t j = i + 1;
      for (; j < line.size(); ++j) {
        depth += line[j].is("(") ? 1 : line[j].is(")") ? -1 : 0;
        if (depth == 0) break;
      }
      if (j == line.size()) return true;
    }
    return false;
  }

 private:
  const Macro* usable(const Token& token) const {
    if (!token.name()) return nullptr;
    const auto it = macros_.find(token.text);
    if (it == macros_.end()) return nullptr;
    const auto& hidden = token.hidden;
    return std::find(hidden.begin(), hidden.end(), token.text) == hidden.end() ? &it->second
                                                                               : nullptr;
  }

  static bool take_arguments(Tokens& stack, const Macro& macro, std::vector<Tokens>& args) {
    if (stack.empty() || !stack.back().is("(")) return false;
    int depth = 0;
    size_t i = stack.size();
    std::vector<Tokens> found(1);
    while (i-- > 0) {
      const Token& token = stack[i];
      if (token.is("(") && depth++ == 0) continue;
      if (token.is(")") && --depth == 0) break;
      const bool rest = macro.variadic && found.size() == macro.params.size();
      if (token.is(",") && depth == 1 && !rest) {
        found.emplace_back();
      } else {
        found.back().push_back(token);
      }
    }
    if (depth != 0) return false;
    stack.resize(i);
    while (found.size() < macro.params.size()) found.emplace_back();
    args = std::move(found);
    return true;
  }

  Tokens substitute(const Macro& macro, const std::vector<Tokens>& args) {
    Tokens out;
    const auto& body = macro.body;
    for (size_t i = 0; i < body.size(); ++i) {
      if (body[i].is("#") && macro.function && i + 1 < body.size()) {
        if (const Tokens* arg = argument(macro, args, body[i + 1])) {
          Token text;
          text.kind = Token::Kind::kString;
          text.text = "\"" + join(*arg) + "\"";
          out.push_back(text);
          ++i;
          continue;
        }
      }
      if (body[i].is("##") && !out.empty() && i + 1 < body.size()) {
        const Tokens* arg = argument(macro, args, body[i + 1]);
        paste(out, arg ? *arg : Tokens{body[i + 1]});
        ++i;
        continue;
      }
      const Tokens* arg = argument(macro, args, body[i]);
      if (!arg) {
        out.push_back(body[i]);
        continue;
      }
      const bool raw = i + 1 < body.size() && body[i + 1].is("##");
      Tokens value = raw ? *arg : expand(*arg);
      if (raw && value.empty()) value.push_back(Token{});  // an empty left side of ##
      out.insert(out.end(), value.begin(), value.end());
    }
    std::erase_if(out, [](const Token& token) { return token.text.empty(); });
    return out;
  }

  static void paste(Tokens& out, const Tokens& right) {
    if (right.empty()) return;
    const Token left = out.back();
    out.pop_back();
    Tokens joined = tokenize(left.text + right.front().text);
    hide(joined, left.hidden);
    out.insert(out.end(), joined.begin(), joined.end());
    out.insert(out.end(), right.begin() + 1, right.end());
  }

  static const Tokens* argument(const Macro& macro, const std::vector<Tokens>& args,
                                const Token& token) {
    if (!macro.function || !token.name()) return nullptr;
    const auto it = std::find(macro.params.begin(), macro.params.end(), token.text);
    if (it == macro.params.end()) return nullptr;
    return &args[static_cast<size_t>(it - macro.params.begin())];
  }

  const Macros& macros_;
};

// Integer constant expressions of #if, by precedence climbing.
class Condition {
 public:
  explicit Condition(const Tokens& tokens) : tokens_(tokens) {}
  long long value() { return ternary(); }

 private:
  static int precedence(const std::string& op) {
    static const std::map<std::string, int> kLevels = {
        {"||", 1}, {"&&", 2}, {"|", 3}, {"^", 4},  {"&", 5},  {"==", 6},
        {"!=", 6}, {"<", 7},  {">", 7}, {"<=", 7}, {">=", 7}, {"<<", 8},
        {">>", 8}, {"+", 9},  {"-", 9}, {"*", 10}, {"/", 10}, {"%", 10}};
    const auto it = kLevels.find(op);
    return it == kLevels.end() ? 0 : it->second;
  }
  static long long apply(const std::string& op, long long a, long long b) {
    if (op == "||") return a || b;
    if (op == "&&") return a && b;
    if (op == "|") return a | b;
    if (op == "^") return a ^ b;
    if (op == "&") return a & b;
    if (op == "==") return a == b;
    if (op == "!=") return a != b;
    if (op == "<") return a < b;
    if (op == ">") return a > b;
    if (op == "<=") return a <= b;
    if (op == ">=") return a >= b;
    if (op == "<<") return a << (b & 63);
    if (op == ">>") return a >> (b & 63);
    if (op == "+") return a + b;
    if (op == "-") return a - b;
    if (op == "*") return a * b;
    if (b == 0) return 0;
    return op == "/" ? a / b : a % b;
  }
  const std::string& peek() const {
    static const std::string kEnd;
    return at_ < tokens_.size() ? tokens_[at_].text : kEnd;
  }
  long long ternary() {
    const long long condition = binary(1);
    if (peek() != "?") return condition;
    ++at_;
    const long long yes = ternary();
    if (peek() == ":") ++at_;
    const long long no = ternary();
    return condition ? yes : no;
  }
  long long binary(int level) {
    long long left = unary();
    while (precedence(peek()) >= level) {
      const std::string op = tokens_[at_++].text;
      left = apply(op, left, binary(precedence(op) + 1));
    }
    return left;
  }
  long long unary() {
    if (at_ >= tokens_.size()) return 0;
    const Token& token = tokens_[at_++];
    if (token.is("!")) return !unary();
    if (token.is("-")) return -unary();
    if (token.is("+")) return unary();
    if (token.is("~")) return ~unary();
    if (token.is("(")) {
      const long long inner = ternary();
      if (peek() == ")") ++at_;
      return inner;
    }
    if (token.kind != Token::Kind::kNumber) return 0;
    return static_cast<long long>(std::strtoull(token.text.c_str(), nullptr, 0));
  }

  const Tokens& tokens_;
  size_t at_ = 0;
};

class Preprocessor {
 public:
  void define(const std::string& name, const std::string& value) {
    macros_[name] = Macro{false, false, {}, tokenize(value)};
  }
  void undefine(const std::string& name) { macros_.erase(name); }

  Tokens run(std::string_view source) {
    const std::string text = strip_comments(source);
    for (size_t begin = 0; begin < text.size();) {
      size_t end = text.find('\n', begin);
      if (end == text.npos) end = text.size();
      line(std::string_view(text).substr(begin, end - begin));
      begin = end + 1;
    }
    flush();
    return std::move(out_);
  }

 private:
  struct Branch {
    bool active, taken, parent;
  };
  bool active() const { return branches_.empty() || branches_.back().active; }

  void flush() {
    Tokens expanded = Expander(macros_).expand(std::move(pending_));
    pending_.clear();
    out_.insert(out_.end(), std::make_move_iterator(expanded.begin()),
                std::make_move_iterator(expanded.end()));
  }

  void line(std::string_view text) {
    Tokens tokens = tokenize(text);
    if (tokens.empty()) return;
    if (tokens[0].is("#")) {
      if (tokens.size() > 1) directive(tokens);
      return;
    }
    if (!active()) return;
    pending_.insert(pending_.end(), tokens.begin(), tokens.end());
    if (!Expander(macros_).unfinished(pending_)) flush();
  }

  void directive(const Tokens& tokens) {
    const std::string& word = tokens[1].text;
    const Tokens rest(tokens.begin() + 2, tokens.end());
    if (word == "if" || word == "ifdef" || word == "ifndef") {
      const bool parent = active();
      const bool yes =
          parent && (word == "if" ? condition(rest) : defined(rest) == (word == "ifdef"));
      branches_.push_back({yes, yes, parent});
    } else if (word == "elif" && !branches_.empty()) {
      Branch& branch = branches_.back();
      branch.active = branch.parent && !branch.taken && condition(rest);
      branch.taken |= branch.active;
    } else if (word == "else" && !branches_.empty()) {
      Branch& branch = branches_.back();
      branch.active = branch.parent && !branch.taken;
      branch.taken = true;
    } else if (word == "endif" && !branches_.empty()) {
      branches_.pop_back();
    } else if (active() && word == "define") {
      flush();
      add_macro(rest);
    } else if (active() && word == "undef" && !rest.empty()) {
      flush();
      undefine(rest[0].text);
    }
  }

  bool defined(const Tokens& rest) const {
    return !rest.empty() && macros_.find(rest[0].text) != macros_.end();
  }

  bool condition(const Tokens& rest) {
    Tokens plain;
    for (size_t i = 0; i < rest.size(); ++i) {
      if (!rest[i].is("defined")) {
        plain.push_back(rest[i]);
        continue;
      }
      const bool parens = i + 1 < rest.size() && rest[i + 1].is("(");
      i += parens ? 2 : 1;
      Token number;
      number.kind = Token::Kind::kNumber;
      number.text = i < rest.size() && macros_.find(rest[i].text) != macros_.end() ? "1" : "0";
      plain.push_back(number);
      if (parens) ++i;
    }
    const Tokens expanded = Expander(macros_).expand(plain);
    return Condition(expanded).value() != 0;
  }

  void add_macro(const Tokens& rest) {
    if (rest.empty()) return;
    Macro macro;
    size_t i = 1;
    if (rest.size() > 1 && rest[1].is("(") && !rest[1].space_before) {
      macro.function = true;
      for (i = 2; i < rest.size() && !rest[i].is(")"); ++i) {
        if (rest[i].is(",")) continue;
        macro.variadic |= rest[i].is("...");
        macro.params.push_back(rest[i].is("...") ? "__VA_ARGS__" : rest[i].text);
      }
      ++i;
    }
    if (i < rest.size()) macro.body.assign(rest.begin() + static_cast<long>(i), rest.end());
    macros_[rest[0].text] = std::move(macro);
  }

  Macros macros_;
  std::vector<Branch> branches_;
  Tokens pending_, out_;
};

void apply_option(Preprocessor& preprocessor, const std::string& kind, const std::string& value) {
  if (kind == "-U") return preprocessor.undefine(value);
  const size_t equals = value.find('=');
  preprocessor.define(value.substr(0, equals),
                      equals == value.npos ? "1" : value.substr(equals + 1));
}

}  // namespace

Tokens preprocess(std::string_view source, std::string_view options, std::string_view extensions) {
  Preprocessor preprocessor;
  for (const auto& extension : split_options(extensions)) preprocessor.define(extension, "1");
  preprocessor.define("__OPENCL_VERSION__", "300");
  preprocessor.define("__ENDIAN_LITTLE__", "1");
  preprocessor.define("__IMAGE_SUPPORT__", "1");
  for (const char* version : {"100", "110", "120", "200", "210", "220", "300"}) {
    const std::string name = std::string("CL_VERSION_") + version[0] + "_" + version[1];
    preprocessor.define(name, version);
  }
  std::string language = "120";
  const auto words = split_options(options);
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string kind = words[i].substr(0, 2);
    if (kind == "-D" || kind == "-U") {
      const bool apart = words[i].size() == 2;
      if (apart && i + 1 == words.size()) break;
      apply_option(preprocessor, kind, apart ? words[++i] : words[i].substr(2));
    } else if (words[i].starts_with("-cl-std=CL") && words[i].size() >= 13) {
      language = {words[i][10], words[i][12], '0'};
    } else if (words[i] == "-cl-fast-relaxed-math") {
      preprocessor.define("__FAST_RELAXED_MATH__", "1");
    }
  }
  preprocessor.define("__OPENCL_C_VERSION__", language);
  return preprocessor.run(source);
}

}  // namespace fake_cl
