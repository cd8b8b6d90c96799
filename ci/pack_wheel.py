#!/usr/bin/env python3
"""ci/pack_wheel.py TREE PLATFORM FOLDER: packs python/clvet with TREE's bin/clvet and lib/libclvet.so.* into a wheel in FOLDER.

PLATFORM is the last part of the wheel's tag: manylinux_2_31_x86_64. What the wheel says of itself is pyproject.toml's. The same
files give the same bytes: times are $SOURCE_DATE_EPOCH's, or 1980.
"""
import base64
import hashlib
import os
import pathlib
import re
import sys
import time
import tomllib
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def version():
    return re.search(r"^project\(clvet VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text(), re.M).group(1)


def library_name():
    return "libclvet.so." + version().rpartition(".")[0]


def metadata(project):
    """PKG-INFO as of core metadata 2.4."""
    rows = [("Metadata-Version", "2.4"), ("Name", project["name"]), ("Version", version()), ("Summary", project["description"])]
    rows += [("Keywords", ",".join(project["keywords"])), ("License-Expression", project["license"])]
    rows += [("License-File", name) for name in project["license-files"]]
    rows += [("Classifier", name) for name in project["classifiers"]]
    rows += [("Requires-Python", project["requires-python"])]
    rows += [("Requires-Dist", name) for name in project["dependencies"]]
    rows += [("Description-Content-Type", "text/markdown")]
    return "".join(f"{name}: {value}\n" for name, value in rows) + "\n" + (ROOT / project["readme"]).read_text()


def entry_points(project):
    return "[console_scripts]\n" + "".join(f"{name} = {where}\n" for name, where in project["scripts"].items())


def library_of(tree):
    found = sorted(tree.glob(f"lib/**/{library_name()}"))
    if not found:
        sys.exit(f"{tree} has no {library_name()}")
    return found[0]


def members(tree, tag):
    """(name in the wheel, bytes, mode), without RECORD."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    info = f"clvet-{version()}.dist-info"
    for path in sorted((ROOT / "python/clvet").iterdir()):
        if path.suffix in (".py", ".typed"):
            yield f"clvet/{path.name}", path.read_bytes(), 0o644
    yield "clvet/bin/clvet", (tree / "bin/clvet").read_bytes(), 0o755
    yield f"clvet/lib/{library_name()}", library_of(tree).read_bytes(), 0o755
    yield f"{info}/METADATA", metadata(project).encode(), 0o644
    yield f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: clvet\nRoot-Is-Purelib: false\nTag: {tag}\n".encode(), 0o644
    yield f"{info}/entry_points.txt", entry_points(project).encode(), 0o644
    for name in project["license-files"]:
        yield f"{info}/licenses/{name}", (ROOT / name).read_bytes(), 0o644


def record_row(name, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}\n"


def pack(tree, tag, file):
    when = time.gmtime(max(int(os.environ.get("SOURCE_DATE_EPOCH", "315532800")), 315532800))[:6]
    record = f"clvet-{version()}.dist-info/RECORD"
    rows = ""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, data, mode in [*members(tree, tag), (record, None, 0o644)]:
            if data is None:
                data = (rows + f"{record},,\n").encode()
            rows += record_row(name, data)
            member = zipfile.ZipInfo(name, when)
            member.compress_type = zipfile.ZIP_DEFLATED
            member.create_system = 3  # Unix: the modes count
            member.external_attr = (0o100000 | mode) << 16
            wheel.writestr(member, data)


def main():
    tree, platform, folder = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
    tag = f"py3-none-{platform}"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"clvet-{version()}-{tag}.whl"
    part = file.with_suffix(".part")
    pack(tree, tag, part)
    part.replace(file)
    print(file)


if __name__ == "__main__":
    main()
