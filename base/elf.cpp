#include "base/elf.h"

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "base/elf_bytes.h"
#include "base/fd.h"
#include "base/hash.h"
#include "base/result.h"

namespace clvet {
namespace {

using elf::read_at;
using elf::slice;

constexpr uint64_t align4(uint64_t value) { return (value + 3) & ~uint64_t{3}; }

std::string build_id_in_notes(elf::Bytes notes) {
  uint64_t at = 0;
  while (const auto header = read_at<Elf64_Nhdr>(notes, at)) {  // the same struct in both classes
    const uint64_t name_at = at + sizeof(Elf64_Nhdr);
    const uint64_t text_at = name_at + align4(header->n_namesz);
    const auto name = slice(notes, name_at, header->n_namesz);
    const auto text = slice(notes, text_at, header->n_descsz);
    if (!name || !text) return {};
    if (header->n_type == NT_GNU_BUILD_ID && name->size() == 4 &&
        std::memcmp(name->data(), "GNU", 4) == 0) {
      std::string hex;
      for (const std::byte byte : *text) hex += fmt::format("{:02x}", static_cast<unsigned>(byte));
      return hex;
    }
    at = text_at + align4(header->n_descsz);
  }
  return {};
}

template <class Header, class Segment>
std::string build_id_of_class(elf::Bytes file) {
  const auto header = read_at<Header>(file, 0);
  if (!header || header->e_phentsize != sizeof(Segment)) return {};
  for (unsigned i = 0; i < header->e_phnum; ++i) {
    const auto segment = read_at<Segment>(file, header->e_phoff + uint64_t{i} * sizeof(Segment));
    if (!segment) return {};
    if (segment->p_type != PT_NOTE) continue;
    const auto notes = slice(file, segment->p_offset, segment->p_filesz);
    if (!notes) continue;
    if (std::string id = build_id_in_notes(*notes); !id.empty()) return id;
  }
  return {};
}

std::string build_id_of(elf::Bytes file) {
  if (file.size() < EI_NIDENT || std::memcmp(file.data(), ELFMAG, SELFMAG) != 0) return {};
  const auto elf_class = static_cast<unsigned char>(file[EI_CLASS]);
  if (elf_class == ELFCLASS64) return build_id_of_class<Elf64_Ehdr, Elf64_Phdr>(file);
  if (elf_class == ELFCLASS32) return build_id_of_class<Elf32_Ehdr, Elf32_Phdr>(file);
  return {};
}

}  // namespace

Result<std::string> read_build_id(const std::string& path) {
  CLVET_ASSIGN_OR_RETURN(const Mapping file, Mapping::of_file(path));
  return build_id_of(file.bytes());
}

Result<std::string> file_identity(const std::string& path) {
  CLVET_ASSIGN_OR_RETURN(const Mapping file, Mapping::of_file(path));
  std::string id = build_id_of(file.bytes());
  return id.empty() ? "sha256:" + Sha256().add(file.bytes()).hex() : id;
}

}  // namespace clvet
