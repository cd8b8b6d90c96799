// Functions that are compiled for each width of vectors that x86 processors have; the loader takes
// the widest that the machine knows. Elsewhere the compiler's target decides. (The thread
// sanitizer's code cannot run yet where the loader chooses.)
#pragma once

#if defined(__SANITIZE_THREAD__)  // GCC's word for it
#define CLVET_THREAD_SANITIZER 1
#elif defined(__has_feature)
#define CLVET_THREAD_SANITIZER __has_feature(thread_sanitizer)
#else
#define CLVET_THREAD_SANITIZER 0
#endif

#if defined(__x86_64__) && defined(__ELF__) && __has_attribute(target_clones) && \
    !CLVET_THREAD_SANITIZER
#define CLVET_WIDEST __attribute__((target_clones("avx512f", "arch=haswell", "default")))
#else
#define CLVET_WIDEST
#endif
