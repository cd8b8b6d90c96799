// Writes small shared libraries for tests: what a linker reads of one, and no code.
#pragma once

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace clvet::test {

struct ElfSpec {
  int bits = 64;
  uint16_t machine = EM_AARCH64;
  std::string soname, runpath;
  std::vector<std::string> needed, symbols, undefined, versions;
  bool gnu_hash = false;  // in place of the plain table
  std::string tail;       // bytes behind everything
};

namespace elf_detail {

template <class T>
void append(std::string& out, const T& value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

struct Names {
  std::string table = std::string(1, '\0');
  uint32_t add(const std::string& text) {
    const auto at = static_cast<uint32_t>(table.size());
    table += text + '\0';
    return at;
  }
};

template <class Header, class Segment, class Dynamic, class Symbol>
std::string write(const ElfSpec& spec) {
  Names names;
  std::string symbols(sizeof(Symbol), '\0'), versions, hash;
  const auto add_symbol = [&](const std::string& name, uint16_t section) {
    Symbol symbol{};
    symbol.st_name = names.add(name);
    symbol.st_shndx = section;
    append(symbols, symbol);
  };
  for (const std::string& name : spec.undefined) add_symbol(name, SHN_UNDEF);
  for (const std::string& name : spec.symbols) add_symbol(name, 1);
  const auto count = static_cast<uint32_t>(symbols.size() / sizeof(Symbol));
  const auto first = static_cast<uint32_t>(1 + spec.undefined.size());
  if (spec.gnu_hash) {
    for (const uint32_t word : {1u, first, 1u, 0u}) append(hash, word);
    hash.append(spec.bits / 8, '\0');
    append(hash, first < count ? first : 0u);
    for (uint32_t i = first; i < count; ++i) append(hash, i + 1 == count ? 1u : 0u);
  } else {
    for (const uint32_t word : {1u, count, 0u}) append(hash, word);
  }
  for (size_t i = 0; i < spec.versions.size(); ++i) {
    Elf64_Verdef row{};
    row.vd_version = 1;
    row.vd_cnt = 1;
    row.vd_aux = sizeof row;
    row.vd_next = i + 1 < spec.versions.size() ? sizeof row + sizeof(Elf64_Verdaux) : 0;
    append(versions, row);
    append(versions, Elf64_Verdaux{names.add(spec.versions[i]), 0});
  }
  std::vector<std::pair<int64_t, uint64_t>> rows;
  if (!spec.soname.empty()) rows.emplace_back(DT_SONAME, names.add(spec.soname));
  if (!spec.runpath.empty()) rows.emplace_back(DT_RUNPATH, names.add(spec.runpath));
  for (const std::string& name : spec.needed) rows.emplace_back(DT_NEEDED, names.add(name));

  const uint64_t strings_at = sizeof(Header) + 2 * sizeof(Segment);
  const uint64_t symbols_at = strings_at + names.table.size();
  const uint64_t hash_at = symbols_at + symbols.size();
  const uint64_t versions_at = hash_at + hash.size();
  const uint64_t dynamic_at = versions_at + versions.size();
  rows.emplace_back(DT_STRTAB, strings_at);
  rows.emplace_back(DT_STRSZ, names.table.size());
  rows.emplace_back(DT_SYMTAB, symbols_at);
  rows.emplace_back(spec.gnu_hash ? DT_GNU_HASH : DT_HASH, hash_at);
  if (!versions.empty()) rows.emplace_back(DT_VERDEF, versions_at);
  rows.emplace_back(DT_NULL, 0);

  Header header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = spec.bits == 64 ? ELFCLASS64 : ELFCLASS32;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_DYN;
  header.e_machine = spec.machine;
  header.e_phoff = sizeof header;
  header.e_ehsize = sizeof header;
  header.e_phentsize = sizeof(Segment);
  header.e_phnum = 2;
  Segment load{}, dynamic{};
  load.p_type = PT_LOAD;
  load.p_filesz = dynamic_at + rows.size() * sizeof(Dynamic);
  dynamic.p_type = PT_DYNAMIC;
  dynamic.p_offset = dynamic.p_vaddr = dynamic_at;
  dynamic.p_filesz = rows.size() * sizeof(Dynamic);
  std::string out;
  append(out, header);
  append(out, load);
  append(out, dynamic);
  out += names.table + symbols + hash + versions;
  for (const auto& [tag, value] : rows) {
    Dynamic row{};
    row.d_tag = static_cast<decltype(row.d_tag)>(tag);
    row.d_un.d_val = static_cast<decltype(row.d_un.d_val)>(value);
    append(out, row);
  }
  return out + spec.tail;
}

}  // namespace elf_detail

inline std::string write_elf(const ElfSpec& spec) {
  return spec.bits == 64 ? elf_detail::write<Elf64_Ehdr, Elf64_Phdr, Elf64_Dyn, Elf64_Sym>(spec)
                         : elf_detail::write<Elf32_Ehdr, Elf32_Phdr, Elf32_Dyn, Elf32_Sym>(spec);
}

}  // namespace clvet::test
