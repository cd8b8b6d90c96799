// Facts of the machine, read without any driver.
#pragma once

#include "probe/report/report.h"

namespace clvet {

HostReport read_host();

}  // namespace clvet
