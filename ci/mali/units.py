"""What instructions cost on the units of a Mali core, in core cycles of one work-item, in the compiler's own terms.

Bifrost (G52): arith = tuples / 24, texture messages / 2, load-store messages. Valhall (G610): fma and cvt instructions / 64,
sfu / 16, texture messages / 4, load-store messages. Midgard (T860; the compiler prints no cycles, the model is ours): ALU
bundles / 2 pipes, load-store words, texture words. A message counts one, whatever its width.

Of each: cost(lines) -> {unit: cycles}, and fused(lines), how many multiply-adds (of scalars) the instructions hold;
messages(lines), how many go to memory and textures. `totals` are the units whose sum over all blocks the compiler prints too,
so that a reading which differs from the compiler's own is noticed.
"""
import re

MEMORY = re.compile(r"^(LOAD|STORE|ATOM|AXCHG|ACMPXCHG|LD_|ST_|LEA_)")
TEXTURE = re.compile(r"^(TEX|TEXC|VAR_TEX)")


class Bifrost:
    name, totals = "Bifrost", {"arith": "arith", "texture": "texture", "load-store": "ldst"}
    first, second = re.compile(r"^\s*\* +(?:.*?= )?([A-Z]\w*)"), re.compile(r"^\s*\+ +(?:.*?= )?([A-Z]\w*)")

    def operations(self, lines):
        for line in lines:
            found = self.first.match(line) or self.second.match(line)
            if found:
                yield found[1]

    def cost(self, lines):
        tuples = nothing = 0
        for line in lines:
            first, second = self.first.match(line), self.second.match(line)
            if first:
                nothing = first[1] == "NOP"
            if second:  # a tuple that holds a message alone costs no arithmetic
                tuples += not (nothing and (MEMORY.match(second[1]) or TEXTURE.match(second[1]) or second[1] == "BARRIER"))
        words = list(self.operations(lines))
        return {"arith": tuples / 24, "texture": sum(bool(TEXTURE.match(word)) for word in words) / 2,
                "load-store": float(sum(bool(MEMORY.match(word)) for word in words))}

    def fused(self, lines):
        return sum(word in ("FMA", "FMA_RSCALE") for word in self.operations(lines))

    def messages(self, lines):
        return sum(bool(MEMORY.match(word) or TEXTURE.match(word)) for word in self.operations(lines))


class Valhall(Bifrost):
    name, totals = "Valhall", {"fma": "fma", "cvt": "cvt", "sfu": "sfu", "texture": "t", "load-store": "ls"}
    operation = re.compile(r"^\s*(?:.*?= )?([A-Z]\w*)")
    slow = {"FRCP", "FRSQ", "FLOG_TABLE", "FEXP", "FSIN_TABLE", "FCOS_TABLE", "IMUL", "LSHIFT_AND", "LSHIFT_OR", "LSHIFT_XOR", "RSHIFT_OR",
            "RSHIFT_AND", "RSHIFT_XOR", "ARSHIFT_OR", "ARSHIFT", "POPCOUNT", "CLZ", "MUX"}
    float_units = {"FMA", "FADD", "FADD_IMM", "FMA_RSCALE"}

    def operations(self, lines):
        for line in lines:
            found = self.operation.match(line)
            if found:
                yield found[1]

    def unit(self, word):
        if MEMORY.match(word):
            return "load-store"
        if TEXTURE.match(word):
            return "texture"
        if word in self.slow:
            return "sfu"
        if word == "BARRIER":
            return "waiting"
        return "fma" if word in self.float_units else "cvt"

    def cost(self, lines):
        rate = {"fma": 64, "cvt": 64, "sfu": 16, "texture": 4, "load-store": 1}
        cycles = dict.fromkeys(rate, 0.0)
        for unit in map(self.unit, self.operations(lines)):
            if unit in rate:
                cycles[unit] += 1 / rate[unit]
        return cycles


class Midgard:
    name, totals = "Midgard", {"bundles": "bundles"}
    lanes = re.compile(r"^[vs]mul\.FMUL\S* +(\S+?),")

    def words(self, lines):
        """Lists of instructions that go together; empty lines part them."""
        word = []
        for line in [*lines, ""]:
            if line.strip():
                word.append(line.strip())
            elif word:
                yield word
                word = []

    def kind(self, word):
        if any(re.match(r"(LD|ST|LEA|ATOMIC|PACK_COLOUR|DISCARD)", line) for line in word):
            return "load-store"
        return "texture" if any("TEX" in line.split()[0].upper() for line in word) else "alu"

    def cost(self, lines):
        kinds = [self.kind(word) for word in self.words(lines)]
        return {"alu": kinds.count("alu") / 2, "load-store": float(kinds.count("load-store")),
                "texture": float(kinds.count("texture")), "bundles": len(kinds)}

    def fused(self, lines):
        """The lanes of its products: it has no fused operation."""
        count = 0
        for line in lines:
            found = self.lanes.match(line.strip())
            if found:
                mask = re.search(r"\.([xyzwabcdefgh]+)$", found[1])
                count += len(mask[1]) if mask else 8 if ".f16" in found[1] else 4
        return count

    def messages(self, lines):
        return sum(bool(re.match(r"(LD|ST|TEX|ATOMIC)", line.strip())) and "LDST_MOV" not in line for line in lines)


# GPU -> its name and family; numbers are those of ci/mesa_mali.sh
GPUS = {"0x860": ("T860", Midgard()), "0x7212": ("G52", Bifrost()), "0xa867": ("G610", Valhall())}
