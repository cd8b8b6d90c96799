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
constexpr uint32_t kLongestChain = 4096;  // of symbols that share a bucket

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
  return fail(ErrorCode::kInvalidArgument, "the ELF file is damaged: {}", what);
}

// The two functions of the System V ABI and of GNU's linker.
uint32_t hash_of(std::string_view name) {
  uint32_t hash = 0;
  for (const unsigned char c : name) {
    hash = (hash << 4) + c;
    const uint32_t high = hash & 0xf0000000;
    hash = (hash ^ (high >> 24)) & ~high;
  }
  return hash;
}

uint32_t gnu_hash_of(std::string_view name) {
  uint32_t hash = 5381;
  for (const unsigned char c : name) hash = hash * 33 + c;
  return hash;
}

template <class C>
class LibraryReader {
 public:
  explicit LibraryReader(Bytes file) : file_(file) {}

  Result<ElfLibrary> read(SymbolFilter wanted) {
    CLVET_RETURN_IF_ERROR(open());
    read_names();
    if (wanted) read_symbols(wanted);
    read_versions();
    return found_;
  }

  Result<std::vector<std::string>> find(std::span<const std::string_view> names) {
    CLVET_RETURN_IF_ERROR(open());
    std::vector<std::string> found;
    for (const std::string_view name : names) {
      if (defines(name)) found.emplace_back(name);
    }
    return found;
  }

 private:
  Status open() {
    const auto header = elf::read_at<typename C::Header>(file_, 0);
    if (!header) return broken("its header is cut off");
    found_.bits = C::bits;
    found_.machine = header->e_machine;
    if (header->e_phnum == 0) return {};
    if (header->e_phentsize != sizeof(typename C::Segment))
      return broken("its program headers have the wrong size");
    for (uint32_t i = 0; i < header->e_phnum && i < kMostEntries; ++i) {
      const auto segment = elf::read_at<typename C::Segment>(
          file_, header->e_phoff + uint64_t{i} * sizeof(typename C::Segment));
      if (!segment) return broken("its program headers are cut off");
      segments_.push_back(*segment);
    }
    return read_dynamic();
  }

  Status read_dynamic() {
    for (const auto& segment : segments_) {
      if (segment.p_type != PT_DYNAMIC) continue;
      const auto bytes = elf::slice(file_, segment.p_offset, segment.p_filesz);
      if (!bytes) return broken("its dynamic section is cut off");
      collect(*bytes);
      return find_strings();
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

  Status find_strings() {
    const auto at = file_offset(strings_at_);
    const auto bytes = at ? elf::slice(file_, *at, strings_size_) : std::nullopt;
    if (!bytes) return broken("its string table lies outside the file");
    strings_ = *bytes;
    return {};
  }

  void read_names() {
    found_.soname = text(soname_);
    found_.runpath = text(runpath_);
    for (const uint64_t offset : needed_) found_.needed.push_back(text(offset));
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

  void read_symbols(SymbolFilter wanted) {
    const auto at = file_offset(symbols_at_);
    if (!at) return;
    const uint32_t count = std::min(symbol_count(), kMostSymbols);
    for (uint32_t i = 1; i < count && found_.exports.size() < kMostEntries; ++i) {
      const auto symbol = symbol_at(*at, i);
      if (!symbol) return;
      if (symbol->st_shndx == SHN_UNDEF) continue;
      const std::string_view name = elf::text_at(strings_, symbol->st_name);
      if (wanted(name)) found_.exports.push_back(clean_utf8(name));
    }
  }

  std::optional<typename C::Symbol> symbol_at(uint64_t table, uint32_t index) const {
    return elf::read_at<typename C::Symbol>(file_,
                                            table + uint64_t{index} * sizeof(typename C::Symbol));
  }

  bool defines(std::string_view name) const {
    const auto symbols = file_offset(symbols_at_);
    if (!symbols) return false;
    if (const auto at = file_offset(gnu_hash_at_); gnu_hash_at_ && at)
      return defines_by_gnu_hash(name, *symbols, *at);
    const auto at = file_offset(hash_at_);
    return hash_at_ && at && defines_by_hash(name, *symbols, *at);
  }

  bool is_defined_as(std::string_view name, uint64_t symbols, uint32_t index) const {
    const auto symbol = symbol_at(symbols, index);
    return symbol && symbol->st_shndx != SHN_UNDEF &&
           elf::text_at(strings_, symbol->st_name) == name;
  }

  bool defines_by_hash(std::string_view name, uint64_t symbols, uint64_t at) const {
    const auto buckets = word(at);
    if (!buckets || *buckets == 0) return false;
    const uint64_t chains_at = at + 8 + uint64_t{*buckets} * 4;
    auto index = word(at + 8 + uint64_t{hash_of(name) % *buckets} * 4);
    for (uint32_t i = 0; index && *index != 0 && i < kLongestChain; ++i) {
      if (is_defined_as(name, symbols, *index)) return true;
      index = word(chains_at + uint64_t{*index} * 4);
    }
    return false;
  }

  bool defines_by_gnu_hash(std::string_view name, uint64_t symbols, uint64_t at) const {
    const auto buckets = word(at), first = word(at + 4), filters = word(at + 8);
    if (!buckets || !first || !filters || *buckets == 0) return false;
    const uint32_t hash = gnu_hash_of(name);
    const uint64_t buckets_at = at + 16 + uint64_t{*filters} * (C::bits / 8);
    const uint64_t chains_at = buckets_at + uint64_t{*buckets} * 4;
    const auto head = word(buckets_at + uint64_t{hash % *buckets} * 4);
    if (!head || *head < *first) return false;
    for (uint32_t i = 0; i < kLongestChain; ++i) {
      const auto link = word(chains_at + (uint64_t{*head} - *first + i) * 4);
      if (!link) return false;
      if ((*link | 1) == (hash | 1) && is_defined_as(name, symbols, *head + i)) return true;
      if (*link & 1) return false;
    }
    return false;
  }

  uint32_t symbol_count() const {
    if (const auto at = file_offset(hash_at_); hash_at_ && at) {
      return elf::read_at<Elf32_Word>(file_, *at + sizeof(Elf32_Word)).value_or(0);
    }
    const auto at = file_offset(gnu_hash_at_);
    return gnu_hash_at_ && at ? gnu_symbol_count(*at) : 0;
  }

  std::optional<uint32_t> word(uint64_t offset) const {
    return elf::read_at<uint32_t>(file_, offset);
  }

  // One more than the last symbol of the longest chain.
  uint32_t gnu_symbol_count(uint64_t at) const {
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
  ElfLibrary found_;
  std::vector<typename C::Segment> segments_;
  uint64_t strings_at_ = 0, strings_size_ = 0, symbols_at_ = 0, hash_at_ = 0, gnu_hash_at_ = 0;
  uint64_t versions_at_ = 0, soname_ = 0, runpath_ = 0;
  std::vector<uint64_t> needed_;
};

// What `use` gives of the reader for the file's class.
template <class T, class Use>
Result<T> with_reader(Bytes file, const Use& use) {
  if (file.size() < EI_NIDENT || std::memcmp(file.data(), ELFMAG, SELFMAG) != 0)
    return fail(ErrorCode::kInvalidArgument, "not an ELF file");
  if (static_cast<unsigned char>(file[EI_DATA]) != ELFDATA2LSB)
    return fail(ErrorCode::kInvalidArgument, "the ELF file has the wrong byte order (big-endian)");
  switch (static_cast<unsigned char>(file[EI_CLASS])) {
    case ELFCLASS32:
      return use(LibraryReader<Class32>(file));
    case ELFCLASS64:
      return use(LibraryReader<Class64>(file));
    default:
      return broken("its class is neither 32-bit nor 64-bit");
  }
}

}  // namespace

Result<ElfLibrary> parse_elf_library(std::span<const std::byte> file, SymbolFilter wanted) {
  return with_reader<ElfLibrary>(file, [&](auto reader) { return reader.read(wanted); });
}

Result<ElfLibrary> read_elf_library(const std::string& path, SymbolFilter wanted) {
  CLVET_ASSIGN_OR_RETURN(const Mapping file, Mapping::of_file(path));
  auto library = parse_elf_library(file.bytes(), wanted);
  if (!library) return wrap(library.error(), path);
  return library;
}

Result<std::vector<std::string>> find_exports(std::span<const std::byte> file,
                                              std::span<const std::string_view> names) {
  return with_reader<std::vector<std::string>>(file,
                                               [&](auto reader) { return reader.find(names); });
}

Result<std::vector<std::string>> find_exports(const std::string& path,
                                              std::span<const std::string_view> names) {
  CLVET_ASSIGN_OR_RETURN(const Mapping file, Mapping::of_file(path));
  auto found = find_exports(file.bytes(), names);
  if (!found) return wrap(found.error(), path);
  return found;
}

}  // namespace clvet
