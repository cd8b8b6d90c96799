// What Debian 12's static C++ library takes from its glibc and glibc 2.31 does not have; linked
// into the released program.
#define _GNU_SOURCE
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

#define HIDDEN __attribute__((visibility("hidden")))

// glibc 2.32: whether locks may be left out. Never.
HIDDEN char __libc_single_threaded = 0;

// glibc 2.36
HIDDEN uint32_t arc4random(void) {
  uint32_t number;
  if (getentropy(&number, sizeof number) != 0) abort();
  return number;
}

// glibc 2.35, from its manual: the object that holds a code address, and its exception table.
struct dl_find_object {
  unsigned long long dlfo_flags;
  void *dlfo_map_start, *dlfo_map_end;
  struct link_map* dlfo_link_map;
  void* dlfo_eh_frame;
  unsigned long long reserved[7];
};

struct search {
  uintptr_t address;
  struct dl_find_object* found;
};

static int holds_address(struct dl_phdr_info* info, size_t size, void* data) {
  struct search* search = data;
  const ElfW(Phdr)* segment = info->dlpi_phdr;
  void* table = NULL;
  int inside = 0;
  (void)size;
  for (int i = 0; i < info->dlpi_phnum; ++i, ++segment) {
    const uintptr_t start = info->dlpi_addr + segment->p_vaddr;
    if (segment->p_type == PT_GNU_EH_FRAME) table = (void*)start;
    if (segment->p_type != PT_LOAD || search->address - start >= segment->p_memsz) continue;
    search->found->dlfo_map_start = (void*)start;
    search->found->dlfo_map_end = (void*)(start + segment->p_memsz);
    inside = 1;
  }
  search->found->dlfo_eh_frame = table;
  return inside && table;
}

HIDDEN int _dl_find_object(void* address, struct dl_find_object* found) {
  struct search search = {(uintptr_t)address, found};
  return dl_iterate_phdr(holds_address, &search) ? 0 : -1;
}
