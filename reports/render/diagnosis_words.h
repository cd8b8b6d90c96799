// The sentences of a diagnosis, which its text and its page share. Names in them are as the model
// has them: who prints them cleans them.
#pragma once

#include <string>
#include <vector>

#include "runtime/graph/output_sign.h"
#include "runtime/precision/blame.h"
#include "runtime/precision/diagnosis.h"
#include "runtime/precision/number_format.h"

namespace clvet {

// Of a relative error, two digits, never with an exponent: "100 %", "0.29 %", "0.014 %".
std::string percent(double part);

// Empty where there is none.
std::string sign_words(OutputSign sign);
std::string verdict_word(const DiagnosedInput& input);
// "error 0.3 %", after a colon the sign if there is one, and the tokens that a language model
// chooses as it should.
std::string error_words(const DiagnosedOutput& output);

// Which value the format does not hold. `part`: the error that the node alone makes.
std::string blame_words(NumberFormat format, const Blame& blame, double part);

// The node, then a sentence each: why, which node makes the value, with how many inputs.
std::vector<std::string> origin_words(const PrecisionDiagnosis& diagnosis,
                                      const ErrorOrigin& origin);
// What float32 does not hold either, a sentence each; none where it holds all.
std::vector<std::string> float_fault_words(const PrecisionDiagnosis& diagnosis);
// What holds in place of origins and cure: nothing is wrong, or no node is the origin.
std::vector<std::string> no_origin_words(const PrecisionDiagnosis& diagnosis);
// How many nodes, and how many inputs are right then. The diagnosis has a plan.
std::string cure_words(const PrecisionDiagnosis& diagnosis);
// What cures without a raised node, or why it cannot; empty where that is no question.
std::string rescale_words(const PrecisionPlan& plan);
// Where the failing part is, and how to run it. The diagnosis has one.
std::vector<std::string> failing_words(const FailingFiles& files);

}  // namespace clvet
