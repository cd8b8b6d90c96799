#include "tests/fakes/body_scan.h"

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/fakes/tokens.h"

namespace fake_cl {
namespace {

enum class Base { kNone, kHalf, kFloat, kSmallInt, kInt };

struct Type {
  Base base = Base::kNone;
  int width = 1;
};

struct Variable {
  Type type;
  bool pointer = false;
  int dimensions = 0;  // subscripts that reach one element: array dimensions, one for a pointer
  bool global = false;
};
using Variables = std::map<std::string, Variable>;

Type type_of(std::string_view word) {
  static const std::map<std::string_view, Base> kBases = {
      {"half", Base::kHalf},       {"float", Base::kFloat},    {"double", Base::kFloat},
      {"char", Base::kSmallInt},   {"uchar", Base::kSmallInt}, {"short", Base::kSmallInt},
      {"ushort", Base::kSmallInt}, {"int", Base::kInt},        {"uint", Base::kInt},
      {"long", Base::kInt},        {"ulong", Base::kInt},      {"size_t", Base::kInt}};
  const size_t end = word.find_last_not_of("0123456789");
  if (end == word.npos) return {};
  const auto it = kBases.find(word.substr(0, end + 1));
  if (it == kBases.end()) return {};
  const auto digits = word.substr(end + 1);
  int width = 1;
  if (!digits.empty()) width = digits == "16" ? 16 : digits.size() == 1 ? digits[0] - '0' : 0;
  if (width == 0 || (!digits.empty() && word == "size_t")) return {};
  return {it->second, width};
}

bool integer(Base base) { return base == Base::kSmallInt || base == Base::kInt; }
bool qualifier(const Token& t) {
  static const std::set<std::string_view> kWords = {"const",    "restrict", "__restrict",
                                                    "volatile", "private",  "__private"};
  return kWords.count(t.text) != 0;
}
bool address_space(const Token& t) {
  static const std::set<std::string_view> kWords = {"global",  "__global", "local",
                                                    "__local", "constant", "__constant"};
  return kWords.count(t.text) != 0;
}
bool arithmetic(const Token& t) {
  static const std::set<std::string_view> kWords = {"+", "-", "*", "/", "+=", "-=", "*=", "/="};
  return kWords.count(t.text) != 0;
}

// `(name)` becomes `name` where the parentheses only group, as macros leave them.
Tokens without_idle_parentheses(Tokens in) {
  for (bool changed = true; changed;) {
    changed = false;
    Tokens out;
    for (size_t i = 0; i < in.size(); ++i) {
      const bool idle = i + 2 < in.size() && in[i].is("(") && in[i + 1].name() &&
                        in[i + 2].is(")") && type_of(in[i + 1].text).base == Base::kNone &&
                        (i == 0 || (!in[i - 1].name() && !in[i - 1].is(")")));
      out.push_back(in[idle ? i + 1 : i]);
      if (idle) i += 2;
      changed |= idle;
    }
    in = std::move(out);
  }
  return in;
}

class Scanner {
 public:
  Scanner(const Tokens& tokens, std::set<std::string>& found)
      : t_(without_idle_parentheses(tokens)), found_(found) {}

  void run() {
    declarations();
    for (size_t i = 0; i < t_.size(); ++i) {
      if (t_[i].name()) {
        builtin(i);
        variable(i);
      }
      half_value(i);
      cast(i);
      nibble(i);
    }
  }

 private:
  const Token& at(size_t i) const {
    static const Token kEnd{};
    return i < t_.size() ? t_[i] : kEnd;
  }
  void add(const char* construct) { found_.insert(construct); }
  size_t close(size_t open) const {
    int depth = 0;
    for (size_t i = open; i < t_.size(); ++i) {
      depth += t_[i].is("(") ? 1 : t_[i].is(")") ? -1 : 0;
      if (depth == 0) return i;
    }
    return t_.size();
  }

  // `float4 a, *b, c[3]` and parameters: a type word, then names until the declaration ends.
  void declarations() {
    for (size_t i = 0; i < t_.size(); ++i) {
      const Type type = t_[i].name() ? type_of(t_[i].text) : Type{};
      if (type.base == Base::kNone) continue;
      bool global = false;
      for (size_t k = i;
           k-- > 0 && (qualifier(t_[k]) || address_space(t_[k]) || t_[k].is("unsigned"));)
        global |= address_space(t_[k]);
      declare(i + 1, type, global);
    }
  }

  void declare(size_t i, Type type, bool global) {
    while (i < t_.size()) {
      Variable variable{type, false, 0, global};
      for (; at(i).is("*") || qualifier(at(i)) || address_space(at(i)); ++i) {
        variable.pointer |= at(i).is("*");
      }
      if (!at(i).name() || at(i + 1).is("(")) return;
      variable.dimensions = subscripts(i + 1) + (variable.pointer ? 1 : 0);
      variables_[t_[i].text] = variable;
      int depth = 0;
      for (++i; i < t_.size(); ++i) {
        if (depth == 0 && (at(i).is(",") || at(i).is(";") || at(i).is(")") || at(i).is("{"))) break;
        depth += at(i).is("(") || at(i).is("[") || at(i).is("{")   ? 1
                 : at(i).is(")") || at(i).is("]") || at(i).is("}") ? -1
                                                                   : 0;
      }
      if (!at(i).is(",")) return;
      ++i;
      if (type_of(at(i).text).base != Base::kNone || address_space(at(i)) || qualifier(at(i)))
        return;
    }
  }

  int subscripts(size_t i) const {
    int count = 0, depth = 0;
    for (; i < t_.size() && (depth > 0 || at(i).is("[")); ++i) {
      if (depth == 0) ++count;
      depth += at(i).is("[") ? 1 : at(i).is("]") ? -1 : 0;
    }
    return count;
  }

  void builtin(size_t i) {
    const std::string_view w = t_[i].text;
    if (w.starts_with("vload") && w.find("_half") != w.npos) add("vload_half");
    if (w.starts_with("vstore") && w.find("_half") != w.npos) add("vload_half");
    if (w == "read_imageh") add("read_imageh"), add("image_half");
    if (w == "write_imageh") add("write_imageh"), add("image_half");
    if (w == "read_imagef" || w == "write_imagef") add("image_float");
    if (w == "read_imagei" || w == "read_imageui") add("image_int32_weights"), add("~int_load");
    if (w == "local" || w == "__local") add("local_memory");
    if (w == "barrier" || w == "work_group_barrier") add("barrier");
    if (w.starts_with("sub_group_") || w.starts_with("intel_sub_group_") ||
        w.starts_with("get_sub_group_") || w == "get_sub_group_id")
      add("subgroup");
    if (w.starts_with("arm_dot") || w.starts_with("dot_4x8packed") || w.starts_with("dot_acc_sat"))
      add("dot8");
  }

  void variable(size_t i) {
    const auto it = variables_.find(t_[i].text);
    if (it == variables_.end() || at(i - 1).is(".")) return;
    const Variable& v = it->second;
    const bool indexed = at(i + 1).is("[");
    const bool address = i > 0 && at(i - 1).is("&");
    if (v.type.width > 1 && subscripts(i + 1) > v.dimensions) add("vector_subscript");
    if (v.pointer && v.type.base == Base::kHalf && indexed && !address) add("half_type");
    if (v.pointer && v.global && integer(v.type.base)) global_integer(i, v, indexed);
    const bool half = v.type.base == Base::kHalf && (!v.pointer || indexed);
    if (half && arithmetic_beside(i)) add("half_arith");
    if (v.type.base == Base::kSmallInt && at(i - 1).is("(") && at(i - 2).is("dot")) add("dot8");
  }

  void global_integer(size_t i, const Variable& v, bool indexed) {
    size_t k = i;  // vload4(0, w + i): look back for a vector load that has this argument
    while (k > 0 && i - k < 24 && !at(k).is(";") && !at(k).text.starts_with("vload")) --k;
    const bool loaded = indexed || at(k).text.starts_with("vload");
    if (loaded) add(v.type.base == Base::kSmallInt ? "~small_load" : "~int_load");
  }

  bool arithmetic_beside(size_t i) const {
    if (i > 0 && arithmetic(at(i - 1))) return true;
    size_t k = i + 1;
    for (int depth = 0; at(k).is("[") || depth > 0; ++k) {
      depth += at(k).is("[") ? 1 : at(k).is("]") ? -1 : 0;
      if (k >= t_.size()) return false;
    }
    if (at(k).is(".")) k += 2;
    if (arithmetic(at(k))) return true;
    static const std::set<std::string_view> kCalls = {
        "mad", "fma", "dot", "max", "min", "fmax", "fmin", "exp", "mix", "clamp", "sqrt", "rsqrt"};
    for (size_t back = i, depth = 0; back-- > 0 && i - back < 40;) {
      if (at(back).is(";") || at(back).is("{") || at(back).is("=")) break;
      if (at(back).is(")")) ++depth;
      if (!at(back).is("(")) continue;
      if (depth > 0)
        --depth;
      else
        return back > 0 && kCalls.count(at(back - 1).text) != 0;
    }
    return false;
  }

  // A half that is not merely pointed to: a variable, a cast, a conversion.
  void half_value(size_t i) {
    const std::string_view w = t_[i].text;
    if (w.starts_with("convert_half") || w.starts_with("as_half")) {
      add("half_type");
      if (w[0] == 'c' && at(i + 1).is("(")) conversion(i + 1, close(i + 1));
      return;
    }
    if (!t_[i].name() || type_of(w).base != Base::kHalf) return;
    size_t k = i + 1;
    while (qualifier(at(k)) || address_space(at(k))) ++k;
    if (!at(k).is("*")) add("half_type");
  }

  void cast(size_t i) {
    if (!t_[i].is("(")) return;
    size_t k = i + 1;
    bool spaced = false;
    for (; qualifier(at(k)) || address_space(at(k)); ++k) spaced |= address_space(at(k));
    const Type type = type_of(at(k).text);
    if (type.base == Base::kNone) return;
    for (++k; qualifier(at(k)) || address_space(at(k)); ++k) spaced |= address_space(at(k));
    if (at(k).is("*") && at(k + 1).is(")") && !spaced) {
      const auto v = variables_.find(at(k + 2).is("&") ? at(k + 3).text : at(k + 2).text);
      const bool global = v != variables_.end() && v->second.global;
      if (!global && (at(k + 2).is("&") || at(k + 2).name() || at(k + 2).is("("))) {
        add("private_vector_cast");
      }
    } else if (at(k).is(")") && type.base == Base::kHalf) {
      size_t end = k + 2;
      if (at(k + 1).is("("))
        end = close(k + 1);
      else if (at(k + 2).is("[") || at(k + 2).is("(") || at(k + 2).is("."))
        end = k + 6;
      conversion(k, end);
    }
  }

  // int_to_half: what stands between `begin` and `end` is integer valued and never float.
  void conversion(size_t begin, size_t end) {
    bool ints = false, floats = false;
    int subscript = 0;
    for (size_t i = begin; i <= end && i < t_.size(); ++i) {
      subscript += t_[i].is("[") ? 1 : t_[i].is("]") ? -1 : 0;
      if (subscript > 0 && !t_[i].is("[")) continue;
      const std::string_view w = t_[i].text;
      if (t_[i].is(">>") || t_[i].is("<<") || (t_[i].is("&") && i > begin + 1)) ints = true;
      floats |= w == "read_imagef";
      if (w.starts_with("read_imagei") || w.starts_with("read_imageui")) ints = true;
      for (std::string_view prefix : {"as_", "convert_"}) {
        if (!w.starts_with(prefix)) continue;
        const auto rest = w.substr(prefix.size());
        const Base base = type_of(rest.substr(0, rest.find('_'))).base;
        ints |= integer(base);
        floats |= base == Base::kFloat;
      }
      if (t_[i].kind == Token::Kind::kNumber && !w.starts_with("0x")) {
        floats |= w.find_first_of(".ef") != w.npos;
      }
      const auto it = variables_.find(t_[i].text);
      if (it == variables_.end() || at(i - 1).is(".")) continue;
      ints |= integer(it->second.type.base);
      floats |= it->second.type.base == Base::kFloat;
    }
    if (ints && !floats) add("int_to_half");
  }

  void nibble(size_t i) {
    static const std::set<std::string_view> kMasks = {
        "15",    "0xf",   "0x0f", "0xF",        "0x0F",       "15u",         "0xFu",
        "0x0fu", "0x0Fu", "0xfu", "0x0F0F0F0F", "0x0f0f0f0f", "0x0f0f0f0fu", "0x0F0F0F0Fu"};
    if (t_[i].is("&") && at(i + 1).kind == Token::Kind::kNumber && kMasks.count(at(i + 1).text)) {
      add("~nibble");
    }
    // & (uchar4)(15)
    if (t_[i].is("&") && at(i + 1).is("(") && type_of(at(i + 2).text).base != Base::kNone) {
      const size_t k = at(i + 4).is("(") ? i + 5 : i + 4;
      if (kMasks.count(at(k).text)) add("~nibble");
    }
    if (t_[i].is(">>") && at(i + 1).kind == Token::Kind::kNumber && at(i + 1).text[0] == '4') {
      add("~nibble");
    }
    const std::string_view w = t_[i].text;
    if (w.starts_with("convert_float") || w.starts_with("convert_half")) add("~to_real");
    if (t_[i].is("(") && at(i + 2).is(")")) {
      const Base base = type_of(at(i + 1).text).base;
      if (base == Base::kFloat || base == Base::kHalf) add("~to_real");
    }
  }

  const Tokens t_;
  std::set<std::string>& found_;
  Variables variables_;
};

}  // namespace

void scan_body(const Tokens& function, std::set<std::string>& found) {
  Scanner(function, found).run();
}

void conclude(const std::string& options, std::set<std::string>& found) {
  const bool real = found.count("~to_real");
  const bool small = found.count("~small_load"), word = found.count("~int_load");
  if (real && (small || word) && found.count("~nibble"))
    found.insert("int4_weights");
  else if (real && (small || (word && found.count("image_int32_weights")))) {
    found.insert("int8_weights");
  }
  if (options.find("W_BITS=4") != options.npos) found.insert("int4_weights");
  if (options.find("W_BITS=8") != options.npos) found.insert("int8_weights");
  if (found.count("int4_weights") || found.count("int8_weights")) found.insert("quantised");
  // Both facts are the image's, not the text's; the options of clvet's own kernels tell them.
  if (options.find("STORE_HALF=1") != options.npos && found.erase("image_float")) {
    found.insert("image_half");
  }
  if (options.find("W_IMAGE=1") != options.npos && found.erase("image_int32_weights")) {
    found.insert("image_uint16_weights");
  }
  for (const char* relaxed : {"-cl-fast-relaxed-math", "-cl-unsafe-math-optimizations"}) {
    if (options.find(relaxed) != options.npos) found.insert("relaxed_math");
  }
  std::erase_if(found, [](const std::string& name) { return name[0] == '~'; });
}

}  // namespace fake_cl
