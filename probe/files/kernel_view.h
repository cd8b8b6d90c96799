// What the kernel's half of a GPU driver shows in files: which GPU it found, its driver's release,
// clocks, temperatures, its log; and whether a container or SELinux stands between. Nothing is
// opened but text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "probe/files/file_view.h"

namespace clvet {

struct KernelInView {
  std::vector<std::string> gpus;    // as the kernel calls them: "Mali-G57 5 cores r0p1 0x9091"
  std::string mali_release;         // of its Mali driver: g13p0; empty where it is not known
  std::string container;            // docker, podman, lxc, ...; empty where there is no sign of one
  std::string selinux;              // enforcing, permissive; empty where there is none
  std::vector<std::string> clocks;  // "fb000000.gpu: simple_ondemand, 300 of 1000 MHz"
  std::vector<std::string> temperatures;  // "gpu-thermal: 45.0 C"
  std::vector<std::string> lines;         // of kernel logs, those that concern a GPU
};

// All but the logs.
KernelInView kernel_in(const FileSystemView& view);
// Those that a view's /var/log has.
void add_kernel_logs(const FileSystemView& view, KernelInView& kernel);

// Takes the lines that concern a GPU, and the Mali driver's release where it is not known yet.
void add_kernel_log(std::string_view text, KernelInView& kernel);

// This machine's kernel log; empty where the user may not read it.
std::string own_kernel_log();

// The Mali release in a text: g13p0 of "g13p0-01eac0"; empty where there is none.
std::string mali_release_in(std::string_view text);

// The GPU that a Mali library is for, by its name: "g52" of libmali-bifrost-g52-g13p0-gbm.so, where
// an x stands for any digit; empty where the name does not say.
std::string gpu_of_library(const std::string& path);
// False where the kernel found Mali GPUs and none of them is that one.
bool may_fit(const std::string& gpu, const std::vector<std::string>& found);

}  // namespace clvet
