// What a verb takes from the command line. CLI11 stands behind this: its headers alone take seconds
// to compile in each file that has them. Each text is shown in the user's language
// (base/language.h).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cli/number_rule.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace clvet {

struct ShownVerb;

class Option {
 public:
  explicit Option(CLI::Option* option, std::shared_ptr<NumberRule> number = nullptr)
      : option_(option), number_(std::move(number)) {}

  Option required();
  Option type_name(const std::string& name);  // what help calls the value
  Option shows_default();                     // help tells the value that it has now
  Option delimiter(char between);             // several values may come as one word
  Option one_each();                          // takes one value each time that it is given
  Option needs(const Option& other);
  Option excludes(const std::string& name);  // of an option that was added before

  Option one_of(const std::vector<std::string>& words);  // in any case
  // Of an option that is a number:
  Option within(int64_t least, int64_t greatest);
  Option above_zero();
  Option seconds();  // above 0
  Option not_empty(const std::string& fault);
  // `fault` gives what is wrong with a value, in the user's language; empty: nothing.
  Option fits(std::string (*fault)(const std::string& value));

 private:
  CLI::Option* option_;
  std::shared_ptr<NumberRule> number_;  // null: no number
};

// The program, one of its verbs, or a group of a verb's options.
class Verb {
 public:
  explicit Verb(CLI::App* app) : app_(app) {}

  Verb add_subcommand(const std::string& name, const std::string& what);
  Verb add_option_group(const std::string& name);
  // The value is written when the command line is read, and must live until then.
  Option add_option(const std::string& name, std::string& value, const std::string& what = "");
  Option add_option(const std::string& name, int& value, const std::string& what = "");
  Option add_option(const std::string& name, int64_t& value, const std::string& what = "");
  Option add_option(const std::string& name, uint64_t& value, const std::string& what = "");
  Option add_option(const std::string& name, double& value, const std::string& what = "");
  Option add_option(const std::string& name, std::vector<std::string>& values,
                    const std::string& what = "");
  Option add_option(const std::string& name, std::vector<double>& values,
                    const std::string& what = "");
  // `take` gets the value when the command line is read; its error is one of the command line.
  Option add_option(const std::string& name, std::function<Status(const std::string&)> take,
                    const std::string& what);
  void add_flag(const std::string& name, bool& value, const std::string& what);

  void require_option(int count);
  void require_subcommand(int count);
  void hide();          // help does not name it
  void add_language();  // --lang: of the program and of each verb
  // Below the options: how it ends, and commands that may be copied.
  void footer(const std::string& notes, const std::vector<std::string>& examples = {});
  void callback(std::function<void()> act);
  // Of the program: once the command line is read, before the verb acts. As with `take`.
  void before_verbs(std::function<Status()> check);
  ShownVerb shown() const;  // of the program, once all verbs are added

 private:
  CLI::App* app_;
};

}  // namespace clvet
