// The figures of PeaksReport by their names in a report.
#pragma once

#include <array>
#include <optional>

#include "probe/report/report.h"

namespace clvet {

struct PeakField {
  const char* name;
  std::optional<double> PeaksReport::*value;
};

inline constexpr std::array kPeaks{PeakField{"launch_us", &PeaksReport::launch_us},
                                   PeakField{"piped_launch_us", &PeaksReport::piped_launch_us},
                                   PeakField{"read_us", &PeaksReport::read_us},
                                   PeakField{"read_gbs", &PeaksReport::read_gbs},
                                   PeakField{"write_us", &PeaksReport::write_us},
                                   PeakField{"write_gbs", &PeaksReport::write_gbs},
                                   PeakField{"map_us", &PeaksReport::map_us},
                                   PeakField{"bandwidth_gbs", &PeaksReport::bandwidth_gbs}};

}  // namespace clvet
