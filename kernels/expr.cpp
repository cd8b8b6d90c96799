#include "kernels/expr.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace clvet {
namespace {

// Recursive descent over the text. The first error sticks; `live_` is false in a branch not taken.
class Parser {
 public:
  Parser(std::string_view text, const ExprLookup& lookup) : text_(text), lookup_(lookup) {}

  Result<int64_t> run() {
    const int64_t value = ternary();
    skip_space();
    if (error_.empty() && at_ != text_.size()) {
      stop(fmt::format("unexpected '{}'", text_.substr(at_, 1)));
    }
    if (!error_.empty()) {
      return fail(ErrorCode::kInvalidArgument, "expression \"{}\", column {}: {}", text_, column_,
                  error_);
    }
    return value;
  }

 private:
  void stop(const std::string& message) {
    if (error_.empty()) {
      error_ = message;
      column_ = at_ + 1;
    }
    at_ = text_.size();
  }

  void skip_space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }

  // Takes `token` if it is next; a one-character token is not taken from a longer operator.
  bool take(std::string_view token) {
    skip_space();
    if (text_.substr(at_, token.size()) != token) return false;
    const char after = at_ + token.size() < text_.size() ? text_[at_ + token.size()] : '\0';
    if ((token == "!" || token == "<" || token == ">") && after == '=') return false;
    at_ += token.size();
    return true;
  }

  void expect(std::string_view token) {
    if (!take(token)) stop(fmt::format("expected '{}'", token));
  }

  int64_t ternary() {
    const int64_t condition = disjunction();
    if (!take("?")) return condition;
    const bool live = live_;
    live_ = live && condition != 0;
    const int64_t yes = ternary();
    expect(":");
    live_ = live && condition == 0;
    const int64_t no = ternary();
    live_ = live;
    return condition != 0 ? yes : no;
  }

  int64_t disjunction() {
    int64_t value = conjunction();
    const bool live = live_;
    while (take("||")) {
      live_ = live && value == 0;
      const int64_t right = conjunction();
      value = value != 0 || right != 0;
    }
    live_ = live;
    return value;
  }

  int64_t conjunction() {
    int64_t value = comparison();
    const bool live = live_;
    while (take("&&")) {
      live_ = live && value != 0;
      const int64_t right = comparison();
      value = value != 0 && right != 0;
    }
    live_ = live;
    return value;
  }

  int64_t comparison() {
    const int64_t left = sum();
    if (take("==")) return left == sum();
    if (take("!=")) return left != sum();
    if (take("<=")) return left <= sum();
    if (take(">=")) return left >= sum();
    if (take("<")) return left < sum();
    if (take(">")) return left > sum();
    return left;
  }

  int64_t sum() {
    int64_t value = product();
    while (true) {
      if (take("+")) {
        value += product();
      } else if (take("-")) {
        value -= product();
      } else {
        return value;
      }
    }
  }

  int64_t product() {
    int64_t value = unary();
    while (true) {
      if (take("*")) {
        value *= unary();
      } else if (take("/")) {
        value = divide(value, unary(), false);
      } else if (take("%")) {
        value = divide(value, unary(), true);
      } else {
        return value;
      }
    }
  }

  int64_t unary() {
    if (take("-")) return -unary();
    if (take("!")) return unary() == 0;
    return primary();
  }

  int64_t primary() {
    skip_space();
    if (take("(")) {
      const int64_t value = ternary();
      expect(")");
      return value;
    }
    const size_t start = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_')) {
      ++at_;
    }
    const std::string word(text_.substr(start, at_ - start));
    if (word.empty()) {
      stop("expected a value");
      return 0;
    }
    if (std::isdigit(static_cast<unsigned char>(word[0]))) return number(word);
    if (take("(")) return call(word);
    return name(word);
  }

  int64_t number(const std::string& word) {
    if (word.size() > 18 || !std::all_of(word.begin(), word.end(),
                                         [](unsigned char c) { return std::isdigit(c) != 0; })) {
      stop(fmt::format("'{}' is not a number", word));
      return 0;
    }
    return std::stoll(word);
  }

  int64_t name(const std::string& word) {
    const std::optional<int64_t> value = lookup_(word);
    if (!value) stop(fmt::format("unknown name '{}'", word));
    return value.value_or(0);
  }

  int64_t call(const std::string& function) {
    const int64_t a = ternary();
    expect(",");
    const int64_t b = ternary();
    expect(")");
    if (function == "min") return std::min(a, b);
    if (function == "max") return std::max(a, b);
    if (function == "ceil_div") return divide(a + b - 1, b, false);
    if (function == "round_up") return divide(a + b - 1, b, false) * b;
    stop(fmt::format("unknown function '{}'", function));
    return 0;
  }

  int64_t divide(int64_t a, int64_t b, bool rest) {
    if (b == 0) {
      if (live_) stop("division by zero");
      return 0;
    }
    return rest ? a % b : a / b;
  }

  std::string_view text_;
  const ExprLookup& lookup_;
  size_t at_ = 0;
  bool live_ = true;
  std::string error_;
  size_t column_ = 0;  // where the error is, from 1
};

}  // namespace

Result<int64_t> evaluate_expr(std::string_view text, const ExprLookup& lookup) {
  return Parser(text, lookup).run();
}

Result<std::vector<std::string>> expr_names(std::string_view text) {
  std::vector<std::string> names;
  const ExprLookup collect = [&](std::string_view name) -> std::optional<int64_t> {
    names.emplace_back(name);
    return 1;
  };
  CLVET_RETURN_IF_ERROR(evaluate_expr(text, collect));
  return names;
}

}  // namespace clvet
