// Where clvet's names live: clvet::v1, which users write as clvet.
#pragma once

// The library's own sources have other things of these names in clvet.
#ifdef CLVET_WITHIN
#define CLVET_ABI_BEGIN \
  namespace clvet {     \
  namespace v1 {
#else
#define CLVET_ABI_BEGIN \
  namespace clvet {     \
  inline namespace v1 {
#endif
#define CLVET_ABI_END \
  }                   \
  }

#define CLVET_API __attribute__((visibility("default")))
