#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/numbers.h"
#include "base/result.h"
#include "kernels/act.h"
#include "kernels/act_table.h"
#include "kernels/contract.h"
#include "kernels/tolerance.h"

namespace clvet::op_contract_squeeze_excite {
namespace {

// y[n, h, w, c] = act(x * gate[n, c]), where gate = gate_act(excite_bias + hidden[n, M] *
// excite_w[M, C]) and hidden = squeeze_act(squeeze_bias + mean[n, C] * squeeze_w[C, M]), mean being
// that of each channel over the image. Rows of both matrices are whole texels: M and C rounded up
// to a multiple of 4, and what stands in the lanes behind counts for nothing. In float at every
// precision.
int64_t lanes(int64_t count) { return round_up(count, int64_t{4}); }

Result<std::vector<TensorRole>> roles(const Dims& dims) {
  constexpr std::array names = {"N", "H", "W", "C", "M"};
  CLVET_RETURN_IF_ERROR(need_positive("squeeze_excite", dims, names));
  const int64_t c = dim(dims, "C"), m = dim(dims, "M");
  TensorRole x{.name = "x",
               .kind = TensorKind::kInput,
               .n = dim(dims, "N"),
               .h = dim(dims, "H"),
               .w = dim(dims, "W"),
               .c = c};
  TensorRole y = x;
  y.name = "y";
  y.kind = TensorKind::kOutput;
  const auto vector = [](const char* name, int64_t count) {
    return TensorRole{.name = name, .kind = TensorKind::kVector, .c = count};
  };
  return std::vector<TensorRole>{x,
                                 vector("squeeze_w", c * lanes(m)),
                                 vector("squeeze_bias", m),
                                 vector("excite_w", m * lanes(c)),
                                 vector("excite_bias", c),
                                 y};
}

// Values, and how far a kernel's may be off, in roundoffs.
struct Rough {
  Values value, error;

  void append(double z, double of_z, const Epilogue& act) {
    const double slope = act_sensitivity(act, z, std::ldexp(of_z, -24));
    value.push_back(apply_act(act.act, act.lo, act.hi, z));
    error.push_back(slope * of_z + act_row(act.act).error(z, act.lo, act.hi));
  }
};

struct Image {
  const double* x;
  size_t pixels, channels;
};

// A sum of signed terms (kernels/tolerance.h), divided.
Rough means_of(const Image& image) {
  const double n = static_cast<double>(image.pixels);
  Rough means;
  for (size_t c = 0; c < image.channels; ++c) {
    double sum = 0, squares = 0;
    for (size_t p = 0; p < image.pixels; ++p) {
      const double x = image.x[p * image.channels + c];
      sum += x, squares += x * x;
    }
    means.value.push_back(sum / n);
    means.error.push_back((roundoffs_of_sum(n) * std::sqrt(squares) + 3 * std::fabs(sum)) / n);
  }
  return means;
}

// Each sum has its own error, that of its terms, and the rounding of the bias.
Rough layer(const Rough& x, const Values& w, const Values& bias, const Epilogue& act) {
  const size_t pitch = w.size() / x.value.size();
  const double of_sum = roundoffs_of_sum(static_cast<double>(x.value.size()));
  Rough y;
  for (size_t j = 0; j < bias.size(); ++j) {
    double sum = bias[j], squares = 0, inherited = 0;
    for (size_t i = 0; i < x.value.size(); ++i) {
      const double weight = w[i * pitch + j], term = x.value[i] * weight;
      sum += term, squares += term * term, inherited += std::fabs(weight) * x.error[i];
    }
    y.append(sum, of_sum * std::sqrt(squares) + inherited + std::fabs(sum) + std::fabs(bias[j]),
             act);
  }
  return y;
}

ReferenceResult reference(const CallValues& values) {
  const Dims& d = values.dims;
  const auto tensor = [&](const char* name) -> const Values& {
    return values.tensors.find(name)->second;
  };
  const Epilogue of_hidden = epilogue_of(values, "squeeze_"),
                 of_gate = epilogue_of(values, "gate_"), of_y = epilogue_of(values);
  Image image{tensor("x").data(), static_cast<size_t>(dim(d, "H") * dim(d, "W")),
              static_cast<size_t>(dim(d, "C"))};
  const size_t size = image.pixels * image.channels;
  Rough y;
  for (int64_t n = 0; n < dim(d, "N"); ++n, image.x += size) {
    const Rough hidden =
        layer(means_of(image), tensor("squeeze_w"), tensor("squeeze_bias"), of_hidden);
    const Rough gate = layer(hidden, tensor("excite_w"), tensor("excite_bias"), of_gate);
    for (size_t i = 0; i < size; ++i) {
      const size_t c = i % image.channels;
      const double product = image.x[i] * gate.value[c];
      y.append(product, std::fabs(image.x[i]) * gate.error[c] + std::fabs(product), of_y);
    }
  }
  ReferenceResult result;
  result.in_float = true;
  result.value = std::move(y.value);
  result.functions = std::move(y.error);
  return result;
}

}  // namespace

extern const OpContract def;
const OpContract def = {"squeeze_excite", roles, reference};

}  // namespace clvet::op_contract_squeeze_excite
