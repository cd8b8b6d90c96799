#!/usr/bin/env python3
"""ci/agreement.py drivers|together|loaders CLVET [DRIVER...]: does `clvet discover` say what clinfo says?

drivers  every property that both print, of each driver (as ci/drivers.sh run shows it alone)
together PoCL, rusticl, Clover, Oclgrind and Intel's runtime, those that are here, behind one loader: the same, by a search of the
         whole machine; prints how long that takes
loaders  Debian's ocl-icd and the Khronos loader of Intel's runtime: its kind and version, how many platforms it lists with
         the variables of tests/data/loader_variables.json, and what clvet calls these
Exit 1: they differ; 77: clinfo or every driver is missing.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
DRIVERS = ("pocl", "oclgrind", "intel", "rusticl")
FEWEST = 45  # properties in common: fewer, and one of the two has not been read
# clvet's names that clinfo prints under another.
ALIASES = {"CL_DEVICE_QUEUE_PROPERTIES": "CL_DEVICE_QUEUE_ON_HOST_PROPERTIES"}
WORDS = {"CL_NONE": 0, "CL_READ_ONLY_CACHE": 1, "CL_READ_WRITE_CACHE": 2, "CL_LOCAL": 1, "CL_GLOBAL": 2, "": ""}


def plain(value):
    """One form for what both print: numbers, texts without blanks at the ends, lists as texts."""
    if isinstance(value, dict):
        return plain(value.get("raw", value.get(" raw ")))
    if isinstance(value, list):
        return " ".join(str(plain(row)) for row in value)
    if isinstance(value, bool):
        return int(value)
    if not isinstance(value, str):
        return value
    text = " ".join(value.split())
    if text in ("true", "false"):
        return int(text == "true")
    if text in WORDS:
        return WORDS[text]
    try:
        return int(text, 0)
    except ValueError:
        return text


def clinfo_devices(document):
    platforms = [row["CL_PLATFORM_NAME"] for row in document["platforms"]]
    return [(platform, device) for platform, row in zip(platforms, document["devices"]) for device in row.get("online", [])]


def compare(ours, theirs):
    """(faults, properties compared) of one device."""
    faults, compared = [], 0
    for name, value in ours["properties"].items():
        other = theirs.get(name, theirs.get(ALIASES.get(name)))
        if isinstance(value, dict) or other is None:
            continue
        compared += 1
        if plain(value) != plain(other):
            faults.append(f"{name}: clvet {value!r}, clinfo {other!r}")
    return faults, compared


def compare_all(discovered, told):
    faults, total = [], 0
    left = clinfo_devices(told)
    for device in discovered["devices"]:
        pair = next((row for row in left if row[0] == device["platform"] and row[1]["CL_DEVICE_NAME"].strip() == device["name"].strip()),
                    None)
        if not pair:
            faults.append(f"clinfo has no {device['name']} of {device['platform']}")
            continue
        left.remove(pair)
        more, compared = compare(device, pair[1])
        faults += more if compared >= FEWEST else more + [f"{device['name']}: only {compared} properties in common"]
        total += compared
    return faults + [f"clvet has no {row[1]['CL_DEVICE_NAME']} of {row[0]}" for row in left], total


def output(command, environment=None):
    done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
                          timeout=300, check=False)
    return done.stdout


def discover(clvet, environment=None, before=(), libraries=("--library", "libOpenCL.so.1")):
    return json.loads(output([*before, clvet, "discover", *libraries, "--json", "-"], environment))


def check_drivers(clvet, drivers):
    faults, tried = [], 0
    for driver in drivers:
        run = ["bash", str(ROOT / "ci/drivers.sh"), "run", driver]
        told = output([*run, "clinfo", "--json"])
        if not told:
            print(f"{driver}: not here: not tried")
            continue
        tried += 1
        found, total = compare_all(discover(clvet, before=run), json.loads(told))
        print(f"{driver}: {total} properties compared, {len(found)} differ", flush=True)
        faults += [f"{driver}: {row}" for row in found]
    return faults, tried


def check_together(clvet, folder):
    debian = sorted(pathlib.Path("/etc/OpenCL/vendors").glob("*.icd"))
    others = {"oclgrind.icd": "/usr/lib/oclgrind/liboclgrind-rt-icd.so",
              "intel.icd": os.environ.get("CLVET_TEST_INTEL", "/nonexistent") + "/lib/libintelocl.so"}
    files = {path.name: path.read_text().strip() for path in debian} | {name: path for name, path in others.items() if os.path.exists(path)}
    for name, library in files.items():
        (folder / name).write_text(library + "\n")
    environment = dict(without_variables(), OCL_ICD_VENDORS=str(folder), RUSTICL_ENABLE="llvmpipe")
    told = json.loads(output(["clinfo", "--json"], environment))
    discover(clvet, environment, libraries=())  # the first one warms the machine's own cache
    started = time.monotonic()
    found = discover(clvet, environment, libraries=())
    seconds = time.monotonic() - started
    faults, total = compare_all(found, told)
    tried = {row["name"]: row["outcome"] for row in found["discovery"]["candidates"]}
    faults += [f"{library}: not tried" for library in files.values() if library not in tried]
    names = [row["CL_PLATFORM_NAME"] for row in told["platforms"]]
    print(f"{len(files)} drivers, platforms {', '.join(names)}: {total} properties compared, {len(faults)} differ; {seconds:.2f} s warm")
    return faults, len(files)


def loaders():
    """By kind: the environment that makes it the one in use."""
    found = {"ocl-icd": {}}
    intel = pathlib.Path(os.environ.get("CLVET_TEST_INTEL", "/nonexistent")) / "lib"
    if (intel / "libOpenCL.so.1").exists():
        found["khronos"] = {"LD_LIBRARY_PATH": str(intel)}
    return found


def without_variables():
    return {name: value for name, value in os.environ.items()
            if not name.startswith(("OCL_ICD_", "OPENCL_")) and name != "LD_LIBRARY_PATH"}


def check_row(clvet, row, base, fill, default):
    environment = dict(base, **{name: value.format(**fill) for name, value in row["set"].items()})
    count = len(json.loads(output(["clinfo", "--json"], environment) or '{"platforms": []}')["platforms"])
    wanted = default if row["drivers"] == "default" else row["drivers"]
    where = f"{row['loader']} with {row['set']}"
    faults = [] if count == wanted else [f"{where}: {count} platforms, the table says {wanted}"]
    files = discover(clvet, environment)["files"]
    states = {variable["name"]: variable["state"] for variable in files["variables"]}
    if states != row["states"]:
        faults.append(f"{where}: clvet says {states}, the table {row['states']}")
    return faults


def check_loaders(clvet, folder):
    table = json.loads((ROOT / "tests/data/loader_variables.json").read_text())["rows"]
    (folder / "one").mkdir()
    (folder / "empty").mkdir()
    (folder / "one/p.icd").write_text("libpocl.so.2\n")
    library = pathlib.Path("/usr/lib") / f"{os.uname().machine}-linux-gnu" / "libpocl.so.2"
    fill = {"one": folder / "one", "empty": folder / "empty", "name": library.name, "library": library}
    faults, tried = [], 0
    for kind, variables in loaders().items():
        base = dict(without_variables(), **variables)
        told = json.loads(output(["clinfo", "--json"], base))
        loader = discover(clvet, base)["discovery"]["loader"]
        if loader["kind"] != kind:
            faults.append(f"{kind}: clvet calls it {loader['kind']}")
        version = told.get("icd_loader", {}).get("CL_ICDL_VERSION", "")
        if version and version != loader["version"]:
            faults.append(f"{kind}: version {loader['version']!r}, clinfo {version!r}")
        rows = [row for row in table if row["loader"] == kind]
        for row in rows:
            faults += check_row(clvet, row, base, fill, len(told["platforms"]))
        print(f"{kind} {loader['version']}: {len(rows)} settings", flush=True)
        tried += 1
    return faults, tried


def main(arguments):
    if len(arguments) < 2 or arguments[0] not in ("drivers", "together", "loaders"):
        print(__doc__)
        return 2
    clvet = os.path.realpath(arguments[1])
    if not shutil.which("clinfo"):
        print("clinfo is not here: not tried")
        return 77
    if arguments[0] == "drivers":
        faults, tried = check_drivers(clvet, arguments[2:] or DRIVERS)
    else:
        with tempfile.TemporaryDirectory() as folder:
            check = check_together if arguments[0] == "together" else check_loaders
            faults, tried = check(clvet, pathlib.Path(folder))
    for fault in faults:
        print("FAULT " + fault)
    return 1 if faults else 0 if tried else 77


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
