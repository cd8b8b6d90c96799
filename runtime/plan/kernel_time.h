// Ways from timed launches to the time of another one.
#pragma once

#include <vector>

namespace clvet {

// What one launch has to do: multiplications and additions, bytes that it reads or writes, the
// elements that it computes, and the layers that do so one behind the other; 0: it has none.
struct CallWork {
  double flops = 0, bytes = 0, outputs = 0, layers = 0;
};

// A kernel's own time for some work, the launch apart, and the share of it that is noise.
struct OwnTime {
  CallWork work;
  double ms = 0, noise = 0;
};

// What a unit of work costs a device at its best, and how many elements keep all of it busy.
struct UnitCosts {
  double ms_a_flop = 0, ms_a_byte = 0, elements = 0;
};

// For processors, which do all work in turn: on the line through the two nearest of `timed`, by the
// time that the device would need at its best; of less work than all of them between its share of
// the smallest's time and all of that, of more work between the largest's time and its multiple, or
// the multiple of the launch that is most like it: a kernel may be ten times as far from the best
// at one shape as at another. `timed` is not empty.
double time_on_line(const std::vector<OwnTime>& timed, const CallWork& work,
                    const UnitCosts& costs);

// For devices that do much at once, where a launch with few elements takes as long as one with
// many: a power law of elements, terms of each and bytes, fitted by least squares in the
// logarithms, each weighted by its noise; the less `timed` says, the nearer to a law that is common
// on GPUs. No kernel is taken to multiply faster than it did in `timed`, but where part of the
// device was idle, nor to beat the memory, save by up to a twentieth: the law still orders those
// that would. On an H200 and the networks of tests/bench/predictions.py 90 % of the nodes are
// within 1.9 of what was measured (by lines: 3.4). `timed` is not empty.
double time_by_power_law(const std::vector<OwnTime>& timed, const CallWork& work,
                         const UnitCosts& costs);

// For those devices and launches of layers: what a layer costs where it has next to nothing to do,
// the least that one of `timed` took, and what the memory costs besides: a trial has no room for
// layers that are large. `timed` is not empty.
double time_of_layers(const std::vector<OwnTime>& timed, const CallWork& work,
                      const UnitCosts& costs);

}  // namespace clvet
