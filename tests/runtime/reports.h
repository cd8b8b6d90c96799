// Reports of devices: limits, and a verdict on every kernel; and those of files.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "probe/report/report.h"

namespace clvet {
struct Variant;
}

namespace clvet::test {

struct Limits {
  std::string memory = "1000000000", largest = "500000000", image_width = "16384";
  std::string unified;  // whether the host works in the same memory; empty: the device does not say
};

// A GPU with images and without half.
DeviceReport device_with(const Limits& limits = {});

using Judge = std::function<Verdict(const Variant&)>;
Verdict all_pass(const Variant&);

// What `judge` says of each kernel that the device could run; "unsupported" of the others.
Report report_of(const DeviceReport& device, const Judge& judge = all_pass);

// That of a file, as 'clvet probe' writes it.
Result<Report> read_report(const std::string& file);

}  // namespace clvet::test
