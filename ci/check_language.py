#!/usr/bin/env python3
"""ci/check_language.py [--missing FOLDER] [ROOT]: every text that people read is in the catalogue, in English and Chinese.

- A text is a string literal of the layers' sources that tr(), translated() or fail() takes, or one that reads as a sentence:
  three lower-case words in a row (two in reports and cli). So is what stands in English alone in the fields of data files that
  DATA lists. Each is an entry of base/catalogue/zh/*.json, or stands in base/catalogue/not_for_people/*.json.
- An entry is used by a source, or comes from elsewhere (zh/foreign.json: CLI11, the C library).
- Its Chinese has Chinese characters, is not its English, and has the same fields; those of base/catalogue/same.json may be equal.

Exit 1: a fault, each on a line of its own. --missing prints the texts of a folder that are no entry yet, as JSON.
"""
import json
import pathlib
import re
import sys

# What programs get of the library they get in English.
ENGLISH = ("runtime/api/", "runtime/include/")
LAYERS = ("base", "kernels", "probe", "runtime", "reports", "cli")
TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|\#[ \t]*include[^\n]*|R"([^()\\ ]*)\((?P<raw>.*?)\)\1"|"(?P<text>(?:[^"\\\n]|\\.)*)"|'(?:[^'\\\n]|\\.)+'"""
    r"""|(?P<other>[A-Za-z_]\w*|\s+|.)""",
    re.S | re.X,
)
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", '"': '"', "\\": "\\", "'": "'"}
TAKES_TEXT = {"tr", "translated", "fail"}
DATA = (  # files, the place of the texts in each, and whether each needs an entry (a source is named as its authors do)
    ("probe/data/cl/personalities.json", "personalities/*/title", True),
    ("probe/data/advice/known_issues/*.json", "sources/*", False),
)
DESCRIBES = {"add_option", "add_flag", "add_subcommand", "add_option_group"}  # a name, and what it means
SENTENCE = {True: re.compile(r"[a-z]+[,;:]? '?[a-z]+"), False: re.compile(r"[a-z]+[,;:]? [a-z]+[,;:]? [a-z]+")}
CHINESE = re.compile("[\u4e00-\u9fff]")
FIELD = re.compile(r"\{\{|\}\}|\{([^{}]*)\}")


def unescape(text):
    def one(match):
        c = match.group(1)
        return chr(int(c[1:], 16)) if c[0] == "x" else ESCAPES.get(c, c)

    return re.sub(r"\\(x[0-9a-fA-F]{1,2}|.)", one, text, flags=re.S)


def literals(source):
    """(line, text, the name of the call whose argument it is) of each literal; adjacent ones are one."""
    calls, name, found, joined = [], "", [], False
    line = 1
    for match in TOKEN.finditer(source):
        token = match.group(0)
        text = match.group("raw") if match.group("raw") is not None else match.group("text")
        if text is not None:
            text = text if match.group("raw") is not None else unescape(text)
            if joined:
                found[-1][1] += text
            else:
                found.append([line, text, calls[-1] if calls else ""])
            joined = True
        elif match.group("other") and not token.isspace():
            joined = False
            if token == "(":
                calls.append(name)
            elif token == ")" and calls:
                calls.pop()
            name = token if re.match(r"[A-Za-z_]", token) else name if token in "<>:*&" else ""
        line += token.count("\n")
    return found


def sources_of(root, layer):
    return sorted(p for p in (root / layer).rglob("*") if p.suffix in (".cpp", ".h", ".inc"))


def is_text(text, call, layer):
    if not re.search(r"[A-Za-z]{2}", FIELD.sub("", text)):
        return False
    if call in TAKES_TEXT or (call in DESCRIBES and " " in text):
        return True
    return not text.startswith("clvet ") and bool(SENTENCE[layer in ("reports", "cli")].search(text))


def values_at(json_value, place):
    name, _, rest = place.partition("/")
    inner = json_value if name == "*" else [json_value[name]]
    return [text for value in inner for text in (values_at(value, rest) if rest else [value])]


def data_texts(root):
    """(file, line, text, whether it needs an entry) of each text in a data file."""
    for files, place, needed in DATA:
        for path in sorted(root.glob(files)):
            for text in values_at(json.loads(path.read_text()), place):
                if SENTENCE[True].search(text) and not text.startswith("https://"):
                    yield path.relative_to(root).as_posix(), 1, text, needed


def source_texts(root):
    """(file, line, text, whether people read it) of each literal."""
    for layer in LAYERS:
        for path in sources_of(root, layer):
            if path.relative_to(root).as_posix().startswith(ENGLISH):
                continue
            for line, text, call in literals(path.read_text()):
                yield path.relative_to(root).as_posix(), line, text, is_text(text, call, layer)


def fields(text):
    numbers = []
    for match in FIELD.finditer(text):
        if match.group(1) is not None:
            number, _, spec = match.group(1).partition(":")
            numbers.append((int(number) if number else len(numbers), spec))
    return sorted(numbers)


def read(root):
    folder = root / "base/catalogue"
    entries, faults = {}, []
    for path in sorted((folder / "zh").glob("*.json")):
        for english, chinese in json.loads(path.read_text(), object_pairs_hook=list):
            if english in entries:
                faults.append(f"{path.name}: '{english}' is an entry of {entries[english][0]} already")
            entries[english] = (path.name, chinese)
    same = set(json.loads((folder / "same.json").read_text()))
    exempt = {text: path.name for path in sorted((folder / "not_for_people").glob("*.json")) for text in json.loads(path.read_text())}
    return entries, faults, same, exempt


def entry_faults(entries, same, used):
    faults = []
    for english, (name, chinese) in entries.items():
        where = f"base/catalogue/zh/{name}: '{english}'"
        if english not in used and name != "foreign.json":
            faults.append(f"{where}: no source has this text; take the entry out")
        if english not in same and (not CHINESE.search(chinese) or chinese == english):
            faults.append(f"{where}: the Chinese is missing")
        if fields(english) != fields(chinese):
            faults.append(f"{where}: the fields differ")
    return faults


def main():
    arguments = sys.argv[1:]
    missing_in = arguments[1] if arguments[:1] == ["--missing"] else None
    if missing_in:
        arguments = arguments[2:]
    root = pathlib.Path(arguments[0] if arguments else pathlib.Path(__file__).resolve().parent.parent)
    entries, faults, same, exempt = read(root)
    used, missing = set(), {}
    found = [*source_texts(root), *data_texts(root)]
    for name, line, text, for_people in found:
        used.add(text)
        if text in entries or text in exempt or not for_people:
            continue
        if missing_in and name.startswith(missing_in):
            missing.setdefault(name, {})[text] = ""
        faults.append(f"{name}:{line}: no entry of base/catalogue/zh: {json.dumps(text, ensure_ascii=False)}")
    if missing_in:
        print(json.dumps(missing, indent=1, ensure_ascii=False))
        return 0
    faults += entry_faults(entries, same, used)
    faults += [f"base/catalogue/not_for_people/{name}: '{text}': no source has it" for text, name in exempt.items() if text not in used]
    print("\n".join(faults) if faults else f"language: {len(entries)} entries")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
