#include "tests/elf_writer.h"

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace clvet::test {
namespace {

struct Machine {
  std::vector<uint32_t> code;  // "return 0"
  uint32_t flags;
};

const Machine& machine(uint16_t number) {
  static const std::map<uint16_t, Machine> known = {
      {EM_X86_64, {{0x90c3c031}, 0}},
      {EM_386, {{0x90c3c031}, 0}},
      {EM_AARCH64, {{0x52800000, 0xd65f03c0}, 0}},
      {EM_ARM, {{0xe3a00000, 0xe12fff1e}, EF_ARM_EABI_VER5 | EF_ARM_ABI_FLOAT_HARD}},
      {EM_RISCV, {{0x00000513, 0x00008067}, EF_RISCV_RVC | EF_RISCV_FLOAT_ABI_DOUBLE}}};
  return known.at(number);
}

template <class T>
void append(std::string& out, const T& value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

uint32_t gnu_hash(const std::string& name) {
  uint32_t hash = 5381;
  for (const unsigned char c : name) hash = hash * 33 + c;
  return hash;
}

uint32_t plain_hash(const std::string& name) {
  uint32_t hash = 0;
  for (const unsigned char c : name) {
    hash = (hash << 4) + c;
    hash = (hash ^ (hash >> 24 & 0xf0)) & 0x0fffffff;
  }
  return hash;
}

struct Names {
  std::string table = std::string(1, '\0');
  uint32_t add(const std::string& text) {
    const auto at = static_cast<uint32_t>(table.size());
    table += text + '\0';
    return at;
  }
};

// One bucket holds every symbol.
std::string hash_table(const ElfSpec& spec) {
  std::string out;
  const auto first = static_cast<uint32_t>(1 + spec.undefined.size());
  const auto count = static_cast<uint32_t>(first + spec.symbols.size());
  if (!spec.gnu_hash) {
    for (const uint32_t word : {1u, count, count - 1}) append(out, word);
    for (uint32_t i = 0; i < count; ++i) append(out, i == 0 ? 0u : i - 1);
    return out;
  }
  for (const uint32_t word : {1u, first, 1u, 0u}) append(out, word);
  out.append(spec.bits / 8, '\xff');
  append(out, first < count ? first : 0u);
  for (const std::string& name : spec.symbols)
    append(out, (gnu_hash(name) & ~1u) | (&name == &spec.symbols.back() ? 1u : 0u));
  return out;
}

// Every function is of the first version.
std::string version_table(const ElfSpec& spec) {
  std::string out;
  for (size_t i = 0; i <= spec.undefined.size(); ++i)
    append(out, static_cast<uint16_t>(i == 0 ? VER_NDX_LOCAL : VER_NDX_GLOBAL));
  for (size_t i = 0; i < spec.symbols.size(); ++i) append(out, uint16_t{2});
  return out;
}

std::string version_names(const ElfSpec& spec, Names& names) {
  std::string out;
  for (size_t i = 0; i < spec.versions.size(); ++i) {
    Elf64_Verdef row{};
    row.vd_version = VER_DEF_CURRENT;
    row.vd_ndx = static_cast<uint16_t>(i + 2);
    row.vd_cnt = 1;
    row.vd_hash = plain_hash(spec.versions[i]);
    row.vd_aux = sizeof row;
    row.vd_next = i + 1 < spec.versions.size() ? sizeof row + sizeof(Elf64_Verdaux) : 0;
    append(out, row);
    append(out, Elf64_Verdaux{names.add(spec.versions[i]), 0});
  }
  return out;
}

template <class Header, class Segment, class Dynamic, class Symbol>
class Writer {
 public:
  explicit Writer(const ElfSpec& spec) : spec_(spec) {}

  std::string write() {
    std::string code;
    for (const uint32_t word : machine(spec_.machine).code) append(code, word);
    if (!spec_.on_load.empty()) row(DT_INIT, put(spec_.on_load));
    const std::string version_defs = version_names(spec_, names_);
    for (const std::string& name : spec_.needed) row(DT_NEEDED, names_.add(name));
    if (!spec_.soname.empty()) row(DT_SONAME, names_.add(spec_.soname));
    if (!spec_.runpath.empty()) row(DT_RUNPATH, names_.add(spec_.runpath));
    const std::string symbols = symbol_table(put(code), code.size());
    row(DT_SYMTAB, put(symbols));
    row(DT_SYMENT, sizeof(Symbol));
    row(DT_STRTAB, put(names_.table));
    row(DT_STRSZ, names_.table.size());
    row(spec_.gnu_hash ? DT_GNU_HASH : DT_HASH, put(hash_table(spec_)));
    if (!spec_.versions.empty()) {
      row(DT_VERSYM, put(version_table(spec_)));
      row(DT_VERDEF, put(version_defs));
      row(DT_VERDEFNUM, spec_.versions.size());
    }
    row(DT_NULL, 0);
    const uint64_t dynamic_at = put(rows_);
    return head(dynamic_at) + body_ + spec_.tail;
  }

 private:
  static constexpr uint64_t kHead = (sizeof(Header) + 3 * sizeof(Segment) + 15) / 16 * 16;

  // Its address, which is its place in the file.
  uint64_t put(const std::string& bytes) {
    const uint64_t at = kHead + body_.size();
    body_ += bytes;
    body_.append((16 - body_.size() % 16) % 16, '\0');
    return at;
  }

  void row(int64_t tag, uint64_t value) {
    Dynamic entry{};
    entry.d_tag = static_cast<decltype(entry.d_tag)>(tag);
    entry.d_un.d_val = static_cast<decltype(entry.d_un.d_val)>(value);
    append(rows_, entry);
  }

  std::string symbol_table(uint64_t code_at, uint64_t code_size) {
    std::string out(sizeof(Symbol), '\0');
    const auto add = [&](const std::string& name, bool defined) {
      Symbol symbol{};
      symbol.st_name = names_.add(name);
      symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
      symbol.st_shndx = defined ? 1 : SHN_UNDEF;
      symbol.st_value = static_cast<decltype(symbol.st_value)>(defined ? code_at : 0);
      symbol.st_size = static_cast<decltype(symbol.st_size)>(defined ? code_size : 0);
      append(out, symbol);
    };
    for (const std::string& name : spec_.undefined) add(name, false);
    for (const std::string& name : spec_.symbols) add(name, true);
    return out;
  }

  std::string head(uint64_t dynamic_at) const {
    Header header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = spec_.bits == 64 ? ELFCLASS64 : ELFCLASS32;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_DYN;
    header.e_machine = spec_.machine;
    header.e_version = EV_CURRENT;
    header.e_flags = machine(spec_.machine).flags;
    header.e_phoff = sizeof header;
    header.e_ehsize = sizeof header;
    header.e_phentsize = sizeof(Segment);
    header.e_phnum = 3;
    Segment load{}, dynamic{}, stack{};
    load.p_type = PT_LOAD;
    load.p_flags = PF_R | PF_W | PF_X;
    load.p_filesz = load.p_memsz = static_cast<decltype(load.p_filesz)>(kHead + body_.size());
    load.p_align = 0x10000;
    dynamic.p_type = PT_DYNAMIC;
    dynamic.p_flags = PF_R | PF_W;
    dynamic.p_offset = static_cast<decltype(dynamic.p_offset)>(dynamic_at);
    dynamic.p_vaddr = dynamic.p_paddr = dynamic.p_offset;
    dynamic.p_filesz = dynamic.p_memsz = static_cast<decltype(load.p_filesz)>(rows_.size());
    dynamic.p_align = 8;
    stack.p_type = PT_GNU_STACK;
    stack.p_flags = PF_R | PF_W;
    std::string out;
    append(out, header);
    for (const Segment& segment : {load, dynamic, stack}) append(out, segment);
    out.resize(kHead);
    return out;
  }

  const ElfSpec& spec_;
  Names names_;
  std::string body_, rows_;
};

}  // namespace

std::string write_elf(const ElfSpec& spec) {
  return spec.bits == 64 ? Writer<Elf64_Ehdr, Elf64_Phdr, Elf64_Dyn, Elf64_Sym>(spec).write()
                         : Writer<Elf32_Ehdr, Elf32_Phdr, Elf32_Dyn, Elf32_Sym>(spec).write();
}

}  // namespace clvet::test
