#include "runtime/exec/programs.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/hash.h"
#include "base/result.h"
#include "kernels/catalog.h"
#include "probe/cl/api.h"
#include "probe/cl/handles.h"
#include "probe/cl/program.h"
#include "probe/cl/query.h"
#include "probe/report/report.h"
#include "runtime/cache/binary_file.h"
#include "runtime/cache/program_cache.h"
#include "runtime/exec/cl_status.h"
#include "runtime/exec/flight.h"
#include "runtime/plan/variant_table.h"

namespace clvet {
namespace {

// The binary of a program is in hand; in the file, too, before the call.
class BinaryInHand {
 public:
  BinaryInHand(Flight& flight, const std::string& key) : flight_(flight) {
    flight_.take_binary(key);
  }
  ~BinaryInHand() { flight_.take_binary(""); }
  BinaryInHand(const BinaryInHand&) = delete;
  BinaryInHand& operator=(const BinaryInHand&) = delete;

 private:
  Flight& flight_;
};

}  // namespace

void Programs::set_place(cl_context context, cl_device_id device) {
  context_ = context;
  device_ = device;
}

Status Programs::build(const ClProgram& made, const Program& program) const {
  return cl_status(
      api_.clBuildProgram(made.get(), 1, &device_, program.options.c_str(), nullptr, nullptr),
      "clBuildProgram");
}

Result<ClKernel> Programs::kernel_of(const Built& built) const {
  flight_.enter(Stage::kCreateKernel);
  cl_int code = CL_SUCCESS;
  ClKernel kernel(api_, api_.clCreateKernel(built.program.get(), built.entry.c_str(), &code));
  return checked(std::move(kernel), code, "clCreateKernel");
}

Result<ClProgram> Programs::from_binary(const Program& program, std::string_view binary) const {
  const auto* bytes = reinterpret_cast<const unsigned char*>(binary.data());
  const size_t size = binary.size();
  cl_int taken = CL_SUCCESS, code = CL_SUCCESS;
  ClProgram made(
      api_, api_.clCreateProgramWithBinary(context_, 1, &device_, &size, &bytes, &taken, &code));
  CLVET_ASSIGN_OR_RETURN(made, checked(std::move(made), code, "clCreateProgramWithBinary"));
  Status fine = cl_status(taken, "clCreateProgramWithBinary");
  if (fine) fine = build(made, program);
  if (!fine) return tl::unexpected(fine.error());
  return made;
}

Result<ClKernel> Programs::loaded_kernel(const Program& program, Built& built) {
  if (!api_.clCreateProgramWithBinary) return ClKernel();
  const auto found = cache_.find(program.key);
  if (!found) return ClKernel();
  const BinaryInHand in_hand(flight_, program.key);
  if (loaded_ == 0) flight_.sync();
  flight_.enter(Stage::kBuild);
  auto made = from_binary(program, found->file.binary);
  auto kernel = made ? Result<ClKernel>(ClKernel()) : tl::unexpected(made.error());
  if (made) {
    built.program = std::move(*made);
    kernel = kernel_of(built);
  }
  if (!kernel) {
    spent_.push_back(std::move(built.program));
    cache_.refuse(program.key, program.entry, kernel.error().message);
    return ClKernel();
  }
  built.hash = found->file.hash;
  built.saved = true;
  ++loaded_;
  flight_.uses_binary();
  return kernel;
}

Result<ClKernel> Programs::compiled_kernel(const Program& program, Built& built) {
  flight_.enter(Stage::kBuild);
  cl_int code = CL_SUCCESS;
  ClProgram made(api_, create_program(api_, context_, program, &code));
  CLVET_ASSIGN_OR_RETURN(made, checked(std::move(made), code, "clCreateProgramWithSource"));
  CLVET_RETURN_IF_ERROR(build(made, program));
  built.program = std::move(made);
  ++compiled_;
  return kernel_of(built);
}

Result<ClKernel> Programs::kernel(const TableRow& row) {
  const Program& program = *row.program;
  flight_.take(row.name);
  const InDriver calls(flight_, Stage::kBuild);
  Built& built = built_[program.key];
  built.entry = program.entry;
  if (!built.program) {
    CLVET_ASSIGN_OR_RETURN(ClKernel kernel, loaded_kernel(program, built));
    if (!kernel) return compiled_kernel(program, built);
    used_[program.key] = built.hash;
    return kernel;
  }
  if (!built.hash.empty()) used_[program.key] = built.hash;
  return kernel_of(built);
}

void Programs::save() {
  for (auto& [key, built] : built_) {
    if (!cache_.is_on()) return;
    if (std::exchange(built.saved, true) || !built.program) continue;
    const BinaryInHand in_hand(flight_, kAllPrograms);
    const InDriver calls(flight_, Stage::kBuild);
    const auto binary = program_binary(api_, built.program.get(), kMaxBinaryBytes);
    if (binary) {
      cache_.keep(key, built.entry, *binary);
      continue;
    }
    cache_.distrust(kAllPrograms,
                    fmt::format("the driver gives no binaries of its programs, so that each start "
                                "compiles them: {}",
                                binary.error().message),
                    true);
  }
}

std::string Programs::used_binaries() const {
  if (used_.empty()) return {};
  Sha256 hash;
  for (const auto& [key, of_binary] : used_) hash.add_field(key).add_field(of_binary);
  return " of binaries " + hash.hex().substr(0, 32);
}

}  // namespace clvet
