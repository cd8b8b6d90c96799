// A catalog program handed to a driver.
#pragma once

#include <cstddef>
#include <vector>

#include "kernels/catalog.h"
#include "probe/cl/api.h"

namespace clvet {

// clCreateProgramWithSource of all its sources. Null, or a code other than CL_SUCCESS: the driver
// refused, or lied.
inline cl_program create_program(const ClApi& api, cl_context context, const Program& program,
                                 cl_int* code) {
  std::vector<const char*> texts;
  std::vector<size_t> sizes;
  for (const Source& source : program.sources) {
    texts.push_back(source->data());
    sizes.push_back(source->size());
  }
  return api.clCreateProgramWithSource(context, static_cast<cl_uint>(texts.size()), texts.data(),
                                       sizes.data(), code);
}

}  // namespace clvet
