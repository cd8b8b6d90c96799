// Ctrl-C and SIGTERM.
#pragma once

namespace clvet {

// From here on the first of them sets interrupt_requested, so that the work in flight can stop and
// keep its state. Where that takes longer than kGraceMs, and at a second one, the program ends at
// once with kExitInterrupted, and what it had started ends with it.
//
// A thread waits for them: no call of a driver holds it up, and no handler that a driver installs
// gets them. Call it before any other thread is started.
void catch_interrupts();

inline constexpr int kGraceMs = 700;

}  // namespace clvet
