"""--device auto: the first run of a network measures host and device, and whoever is faster answers from then on.

Usage: host_or_device.py CLVET MODEL IMAGE_DIR. The state folder is the caller's (CLVET_STATE_DIR), with a report of the
system's drivers in it.
"""

import json
import os
import pathlib
import subprocess
import sys

STATE = pathlib.Path(os.environ["CLVET_STATE_DIR"])
TIMES = STATE / "times.json"


def run(clvet, model, image, options=()):
    command = [clvet, "run", model, "--input", f"x={image}", "--image-size", "192x48", "--mean", "127.5", "--scale",
               "0.00784313725", "--bgr", "--repeat", "3", "--quiet", "--json", "-", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=250)
    assert done.returncode == 0, f"exit {done.returncode}\n{done.stderr}"
    return json.loads(done.stdout)


def rewrite(change):
    times = json.loads(TIMES.read_text())
    for row in times["rows"].values():
        change(row)
    TIMES.write_text(json.dumps(times))


def main():
    clvet, model = sys.argv[1], sys.argv[2]
    image = next(pathlib.Path(sys.argv[3]).glob("*.png"))
    first = run(clvet, model, image)
    assert first["choice"]["device_ms"] > 0 and first["choice"]["host_ms"] > 0, first["choice"]
    assert len(json.loads(TIMES.read_text())["rows"]) == 1
    again = run(clvet, model, image)
    assert again["choice"] == first["choice"], "measured again"

    rewrite(lambda row: row.update(device_ms=100.0, host_ms=1.0))
    on_host = run(clvet, model, image)
    assert on_host["device"] == "host" and not on_host["fallbacks"] and not on_host["warnings"], on_host
    assert all(node["where"] == "host" and "the host is faster" in node["reason"] for node in on_host["nodes"])
    rewrite(lambda row: row.update(device_ms=1.0, host_ms=100.0))
    assert run(clvet, model, image)["device"] != "host"

    # Who names a device or a word of the combination gets it, measured or not.
    rewrite(lambda row: row.update(device_ms=100.0, host_ms=1.0))
    for options in (["--device", "0"], ["--activations", "buffer"], ["--strict"]):
        record = run(clvet, model, image, options)
        assert record["device"] != "host" and "choice" not in record, options
    # A named report of a part of the tier serves as it is: nothing is probed anew.
    partial = json.loads((STATE / "report.json").read_text())
    partial["complete"] = False
    partial["verdicts"] = [row for row in partial["verdicts"] if row["op"] != "softmax"]
    (STATE / "partial.json").write_text(json.dumps(partial))
    before = (STATE / "report.json").stat().st_mtime_ns
    record = run(clvet, model, image, ["--report", str(STATE / "partial.json"), "--device", "0"])
    assert {node["op"] for node in record["nodes"] if node["where"] == "host"} == {"Softmax"}, record["nodes"]
    assert (STATE / "report.json").stat().st_mtime_ns == before, "probed anew"
    print("all as it should be")
    return 0


if __name__ == "__main__":
    sys.exit(main())
