// Functions that are compiled for each width of vectors that x86 processors have; the loader takes
// the widest that the machine knows. Elsewhere the compiler's target decides. (The thread
// sanitizer's code cannot run yet where the loader chooses.)
#pragma once

#if defined(__x86_64__) && defined(__ELF__) && __has_attribute(target_clones) && \
    !defined(__SANITIZE_THREAD__)
#define CLVET_WIDEST __attribute__((target_clones("avx512f", "arch=haswell", "default")))
#else
#define CLVET_WIDEST
#endif
