#include "tests/fakes/constructs.h"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/fakes/body_scan.h"
#include "tests/fakes/tokens.h"

namespace fake_cl {
namespace {

struct Function {
  std::string name;
  bool kernel = false;
  Tokens params;
  Tokens text;  // from the return type to the closing brace
};

struct Unit {
  std::map<std::string, Function> functions;
  std::map<std::string, Tokens> typedefs;
};

Tokens replace_typedefs(const Tokens& in, const std::map<std::string, Tokens>& typedefs) {
  if (typedefs.empty()) return in;
  Tokens out;
  for (const Token& token : in) {
    const auto it = token.name() ? typedefs.find(token.text) : typedefs.end();
    if (it == typedefs.end()) {
      out.push_back(token);
    } else {
      out.insert(out.end(), it->second.begin(), it->second.end());
    }
  }
  return out;
}

size_t close_of(const Tokens& tokens, size_t open, const char* left, const char* right) {
  int depth = 0;
  for (size_t i = open; i < tokens.size(); ++i) {
    depth += tokens[i].is(left) ? 1 : tokens[i].is(right) ? -1 : 0;
    if (depth == 0) return i;
  }
  return tokens.size();
}

// Drops __attribute__((...)) so that a function's first '(' opens its parameters.
Tokens without_attributes(const Tokens& in) {
  Tokens out;
  for (size_t i = 0; i < in.size(); ++i) {
    if (in[i].is("__attribute__") && i + 1 < in.size()) {
      i = close_of(in, i + 1, "(", ")");
    } else {
      out.push_back(in[i]);
    }
  }
  return out;
}

void add_declaration(Unit& unit, const Tokens& chunk) {
  if (chunk.size() < 3 || !chunk[0].is("typedef") || !chunk.back().name()) return;
  const Tokens type(chunk.begin() + 1, chunk.end() - 1);
  unit.typedefs[chunk.back().text] = replace_typedefs(type, unit.typedefs);
}

void add_function(Unit& unit, const Tokens& head, const Tokens& body) {
  size_t open = 0;
  while (open < head.size() && !head[open].is("(")) ++open;
  if (open == 0 || open == head.size()) return;
  Function function;
  function.name = head[open - 1].text;
  const size_t close = close_of(head, open, "(", ")");
  const Tokens params(head.begin() + static_cast<long>(open) + 1,
                      head.begin() + static_cast<long>(close));
  function.params = replace_typedefs(params, unit.typedefs);
  for (const Token& token : head) {
    function.kernel |= token.is("kernel") || token.is("__kernel");
  }
  Tokens whole = head;
  whole.insert(whole.end(), body.begin(), body.end());
  function.text = replace_typedefs(whole, unit.typedefs);
  unit.functions[function.name] = std::move(function);
}

Unit parse(const Tokens& all) {
  const Tokens tokens = without_attributes(all);
  Unit unit;
  Tokens chunk;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].is(";")) {
      add_declaration(unit, chunk);
      chunk.clear();
    } else if (tokens[i].is("{")) {
      const size_t end = close_of(tokens, i, "{", "}");
      const Tokens body(tokens.begin() + static_cast<long>(i),
                        tokens.begin() + static_cast<long>(std::min(end + 1, tokens.size())));
      const bool initializer = !chunk.empty() && !chunk.back().is(")");
      i = end;
      if (initializer) continue;  // struct, enum or array: the rest of the chunk follows
      add_function(unit, chunk, body);
      chunk.clear();
    } else {
      chunk.push_back(tokens[i]);
    }
  }
  return unit;
}

std::set<std::string> reachable(const Unit& unit, const std::string& entry) {
  std::set<std::string> seen{entry};
  std::deque<std::string> queue{entry};
  while (!queue.empty()) {
    const Function& function = unit.functions.at(queue.front());
    queue.pop_front();
    for (const Token& token : function.text) {
      if (token.name() && unit.functions.count(token.text) && seen.insert(token.text).second) {
        queue.push_back(token.text);
      }
    }
  }
  return seen;
}

KernelArg argument(const Tokens& tokens) {
  KernelArg arg;
  bool constant = false, pointer = false, read_only = true;
  for (const Token& token : tokens) {
    const std::string& t = token.text;
    const std::string word = t.starts_with("__") ? t.substr(2) : t;
    if (word == "global")
      arg.global_pointer = true;
    else if (word == "local")
      arg.local_pointer = true;
    else if (word == "const" || word == "constant")
      constant |= !pointer;
    else if (word == "write_only" || word == "read_write")
      read_only = false;
    else if (word == "read_only" || word == "restrict" || word == "volatile")
      continue;
    else if (t == "*")
      pointer = true, arg.type += "*";
    else if (word.starts_with("image") && word.ends_with("_t"))
      arg.image = true, arg.type += t;
    else
      arg.name = t, arg.type += arg.type.empty() ? t : "";
  }
  arg.writable = arg.image ? !read_only : arg.global_pointer && pointer && !constant;
  return arg;
}

std::vector<KernelArg> arguments(const Tokens& params) {
  std::vector<KernelArg> out;
  Tokens current;
  int depth = 0;
  for (const Token& token : params) {
    depth += token.is("(") ? 1 : token.is(")") ? -1 : 0;
    if (token.is(",") && depth == 0) {
      out.push_back(argument(current));
      current.clear();
    } else {
      current.push_back(token);
    }
  }
  if (!current.empty() && !(current.size() == 1 && current[0].is("void"))) {
    out.push_back(argument(current));
  }
  return out;
}

ProgramText analyse_now(const std::string& source, const std::string& options,
                        const std::string& extensions) {
  ProgramText program;
  const Tokens tokens = preprocess(source, options, extensions);
  program.text = join(tokens);
  const Unit unit = parse(tokens);
  for (const auto& [name, function] : unit.functions) {
    if (!function.kernel) continue;
    KernelText& kernel = program.kernels[name];
    kernel.args = arguments(function.params);
    for (const auto& callee : reachable(unit, name))
      scan_body(unit.functions.at(callee).text, kernel.constructs);
    conclude(options, kernel.constructs);
    program.constructs.insert(kernel.constructs.begin(), kernel.constructs.end());
  }
  return program;
}

}  // namespace

const ProgramText& analyse(const std::string& source, const std::string& options,
                           const std::string& extensions) {
  static std::mutex mutex;
  static auto& cache = *new std::map<std::string, ProgramText>;
  const std::string key = source + '\0' + options + '\0' + extensions;
  std::lock_guard lock(mutex);
  const auto it = cache.find(key);
  if (it != cache.end()) return it->second;
  return cache.emplace(key, analyse_now(source, options, extensions)).first->second;
}

}  // namespace fake_cl
