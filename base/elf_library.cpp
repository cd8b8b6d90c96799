#include "base/elf_library.h"

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/elf_bytes.h"
#include "base/fd.h"
#include "base/result.h"
#include "base/text.h"

namespace clvet {
namespace {

using elf::Bytes;

constexpr uint32_t kMostSymbols = 1 << 20;
constexpr uint32_t kMostEntries = 4096;

struct Class32 {
  using Header = Elf32_Ehdr;
  using Segment = Elf32_Phdr;
  using Dynamic = Elf32_Dyn;
  using Symbol = Elf32_Sym;
  static constexpr int bits = 32;
};
struct Class64 {
  using Header = Elf64_Ehdr;
  using Segment = Elf64_Phdr;
  using Dynamic = Elf64_Dyn;
  using Symbol = Elf64_Sym;
  static constexpr int bits = 64;
};

tl::unexpected<Error> broken(const char* what) {
  return fail(ErrorCode::kInvalidArgument, "not a whole ELF file: {}", what);
}

template <class C>
class LibraryReader {
 public:
  LibraryReader(Bytes file, SymbolFilter wanted) : file_(file), wanted_(wanted) {}

  Result<ElfLibrary> read() {
    const auto header = elf::read_at<typename C::Header>(file_, 0);
    if (!header) return broken("its header is cut off");
    found_.bits = C::bits;
    found_.machine = header->e_machine;
    if (header->e_phnum == 0) return found_;
    if (header->e_phentsize != sizeof(typename C::Segment)) return broken("its program headers");
    for (uint32_t i = 0; i < header->e_phnum && i < kMostEntries; ++i) {
      const auto segment = elf::read_at<typename C::Segment>(
          file_, header->e_phoff + uint64_t{i} * sizeof(typename C::Segment));
      if (!segment) return broken("its program headers are cut off");
      segments_.push_back(*segment);
    }
    CLVET_RETURN_IF_ERROR(read_dynamic());
    return found_;
  }

 private:
  Status read_dynamic() {
    for (const auto& segment : segments_) {
      if (segment.p_type != PT_DYNAMIC) continue;
      const auto bytes = elf::slice(file_, segment.p_offset, segment.p_filesz);
      if (!bytes) return broken("its dynamic section is cut off");
      collect(*bytes);
      return read_tables();
    }
    return {};
  }

  void collect(Bytes bytes) {
    for (uint32_t i = 0; i < kMostEntries; ++i) {
      const auto row =
          elf::read_at<typename C::Dynamic>(bytes, uint64_t{i} * sizeof(typename C::Dynamic));
      if (!row || row->d_tag == DT_NULL) return;
      const uint64_t value = row->d_un.d_val;
      switch (row->d_tag) {
        case DT_STRTAB:
          strings_at_ = value;
          break;
        case DT_STRSZ:
          strings_size_ = value;
          break;
        case DT_SYMTAB:
          symbols_at_ = value;
          break;
        case DT_HASH:
          hash_at_ = value;
          break;
        case DT_GNU_HASH:
          gnu_hash_at_ = value;
          break;
        case DT_VERDEF:
          versions_at_ = value;
          break;
        case DT_SONAME:
          soname_ = value;
          break;
        case DT_RUNPATH:
        case DT_RPATH:
          runpath_ = value;
          break;
        case DT_NEEDED:
          needed_.push_back(value);
          break;
        default:
          break;
      }
    }
  }

  Status read_tables() {
    const auto at = file_offset(strings_at_);
    const auto bytes = at ? elf::slice(file_, *at, strings_size_) : std::nullopt;
    if (!bytes) return broken("its string table lies outside");
    strings_ = *bytes;
    found_.soname = text(soname_);
    found_.runpath = text(runpath_);
    for (const uint64_t offset : needed_) found_.needed.push_back(text(offset));
    read_symbols();
    read_versions();
    return {};
  }

  std::string text(uint64_t offset) const {
    return offset == 0 ? std::string() : clean_utf8(elf::text_at(strings_, offset));
  }

  // Where the loader's address lies in the file.
  std::optional<uint64_t> file_offset(uint64_t address) const {
    for (const auto& segment : segments_) {
      if (segment.p_type != PT_LOAD || address < segment.p_vaddr) continue;
      if (address - segment.p_vaddr < segment.p_filesz)
        return segment.p_offset + (address - segment.p_vaddr);
    }
    return std::nullopt;
  }

  void read_symbols() {
    const auto at = file_offset(symbols_at_);
    if (!at || !wanted_) return;
    const uint32_t count = std::min(symbol_count(), kMostSymbols);
    for (uint32_t i = 1; i < count && found_.exports.size() < kMostEntries; ++i) {
      const auto symbol =
          elf::read_at<typename C::Symbol>(file_, *at + uint64_t{i} * sizeof(typename C::Symbol));
      if (!symbol) return;
      if (symbol->st_shndx == SHN_UNDEF) continue;
      const std::string_view name = elf::text_at(strings_, symbol->st_name);
      if (wanted_(name)) found_.exports.push_back(clean_utf8(name));
    }
  }

  uint32_t symbol_count() const {
    if (const auto at = file_offset(hash_at_); hash_at_ && at) {
      return elf::read_at<Elf32_Word>(file_, *at + sizeof(Elf32_Word)).value_or(0);
    }
    const auto at = file_offset(gnu_hash_at_);
    return gnu_hash_at_ && at ? gnu_symbol_count(*at) : 0;
  }

  // One more than the last symbol of the longest chain.
  uint32_t gnu_symbol_count(uint64_t at) const {
    const auto word = [&](uint64_t offset) { return elf::read_at<uint32_t>(file_, offset); };
    const auto buckets = word(at), first = word(at + 4), filters = word(at + 8);
    if (!buckets || !first || !filters) return 0;
    const uint64_t buckets_at = at + 16 + uint64_t{*filters} * (C::bits / 8);
    const uint64_t chains_at = buckets_at + uint64_t{*buckets} * 4;
    uint32_t last = 0;
    for (uint32_t i = 0; i < std::min(*buckets, kMostSymbols); ++i) {
      const auto head = word(buckets_at + uint64_t{i} * 4);
      if (!head) return 0;
      last = std::max(last, *head);
    }
    while (last >= *first && last < kMostSymbols) {
      const auto link = word(chains_at + uint64_t{last - *first} * 4);
      ++last;
      if (!link || *link & 1) break;
    }
    return last;
  }

  void read_versions() {
    auto at = file_offset(versions_at_);
    if (versions_at_ == 0) return;
    for (uint32_t i = 0; at && i < kMostEntries; ++i) {
      const auto row = elf::read_at<Elf64_Verdef>(file_, *at);  // the same struct in both classes
      if (!row) return;
      if (const auto name = elf::read_at<Elf64_Verdaux>(file_, *at + row->vd_aux))
        found_.versions.push_back(text(name->vda_name));
      if (row->vd_next == 0) return;
      *at += row->vd_next;
    }
  }

  Bytes file_, strings_;
  SymbolFilter wanted_;
  ElfLibrary found_;
  std::vector<typename C::Segment> segments_;
  uint64_t strings_at_ = 0, strings_size_ = 0, symbols_at_ = 0, hash_at_ = 0, gnu_hash_at_ = 0;
  uint64_t versions_at_ = 0, soname_ = 0, runpath_ = 0;
  std::vector<uint64_t> needed_;
};

}  // namespace

Result<ElfLibrary> parse_elf_library(std::span<const std::byte> file, SymbolFilter wanted) {
  if (file.size() < EI_NIDENT || std::memcmp(file.data(), ELFMAG, SELFMAG) != 0)
    return fail(ErrorCode::kInvalidArgument, "no ELF file");
  if (static_cast<unsigned char>(file[EI_DATA]) != ELFDATA2LSB)
    return fail(ErrorCode::kInvalidArgument, "an ELF file of the other byte order");
  switch (static_cast<unsigned char>(file[EI_CLASS])) {
    case ELFCLASS32:
      return LibraryReader<Class32>(file, wanted).read();
    case ELFCLASS64:
      return LibraryReader<Class64>(file, wanted).read();
    default:
      return broken("its class is unknown");
  }
}

Result<ElfLibrary> read_elf_library(const std::string& path, SymbolFilter wanted) {
  CLVET_ASSIGN_OR_RETURN(const Mapping file, Mapping::of_file(path));
  auto library = parse_elf_library(file.bytes(), wanted);
  if (!library) return wrap(library.error(), path);
  return library;
}

}  // namespace clvet
