// The programs of an open device: taken from saved binaries where there are such, else compiled.
//
// A binary is asked of the driver and given back to it with its program's key on the page of calls
// (flight.h): a start that dies meanwhile is not followed by one that does the same. Whatever is
// wrong with a binary, the program is compiled from its text.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/catalog.h"
#include "probe/cl/api.h"
#include "probe/cl/handles.h"
#include "runtime/cache/program_cache.h"
#include "runtime/exec/flight.h"
#include "runtime/plan/variant_table.h"

namespace clvet {

class Programs {
 public:
  // All must outlive it.
  Programs(const ClApi& api, Flight& flight) : api_(api), flight_(flight) {}
  void set_place(cl_context context, cl_device_id device);
  // Before the first kernel.
  void keep_in(ProgramCache cache) { cache_ = std::move(cache); }

  // Its program is built once. kDeviceError.
  Result<ClKernel> kernel(const TableRow& row);
  // Keeps the binaries of what was compiled since the last call.
  void save();
  // None is used or kept any more; take_notes() gives `reason`.
  void distrust_all(const std::string& reason) { cache_.distrust(kAllPrograms, reason, true); }

  // A hash of the binaries that kernel() used since begin_use(), which tells machine code that was
  // confirmed from other; empty where all was compiled here.
  void begin_use() { used_.clear(); }
  std::string used_binaries() const;
  std::vector<std::string> take_notes() { return cache_.take_notes(); }
  int compiled() const { return compiled_; }
  int loaded() const { return loaded_; }

 private:
  struct Built {
    ClProgram program;
    std::string entry;
    std::string hash;    // of the binary that it comes of; empty: it was compiled
    bool saved = false;  // its binary need not be asked for
  };
  Result<ClKernel> compiled_kernel(const Program& program, Built& built);
  // Empty where there is no usable binary.
  Result<ClKernel> loaded_kernel(const Program& program, Built& built);
  Result<ClKernel> kernel_of(const Built& built) const;
  Result<ClProgram> from_binary(const Program& program, std::string_view binary) const;
  Status build(const ClProgram& made, const Program& program) const;

  const ClApi& api_;
  Flight& flight_;
  cl_context context_ = nullptr;
  cl_device_id device_ = nullptr;
  ProgramCache cache_{"", "", ""};
  std::map<std::string, Built> built_;       // by key
  std::map<std::string, std::string> used_;  // key and hash
  std::vector<ClProgram> spent_;             // a driver may die where it releases what it refused
  int compiled_ = 0, loaded_ = 0;
};

}  // namespace clvet
