#include "runtime/llm/llm_config.h"

#include <cmath>

namespace clvet {

bool takes_residual_scale(const LlmConfig& config, double scale) {
  if (scale == 1) return true;
  int exponent = 0;
  return config.post_norms && std::frexp(scale, &exponent) == 0.5 && exponent >= -15 &&
         exponent < 1;
}

}  // namespace clvet
