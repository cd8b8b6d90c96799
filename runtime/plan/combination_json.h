// A combination as the records of runs, answers and checks write it.
#pragma once

#include "base/json.h"  // IWYU pragma: keep
#include "kernels/combination.h"

namespace clvet {

inline nlohmann::ordered_json combination_json(const Combination& value) {
  using Json = nlohmann::ordered_json;
  return {{"precision", to_string(value.precision)},
          {"memory", value.memory ? Json(to_string(*value.memory)) : Json(nullptr)},
          {"activations", to_string(value.activations)},
          {"weights", value.weights ? Json(to_string(*value.weights)) : Json(nullptr)}};
}

}  // namespace clvet
