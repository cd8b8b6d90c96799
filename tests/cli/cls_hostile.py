"""A Mali-G78 whose compiler aborts on half arithmetic with quantised weights: probe, then run.

Usage: cls_hostile.py CLVET MODEL IMAGE_DIR. FAKE_CL and FAKE_SCENARIOS name the hostile driver and its
scenarios. CLVET_TEST_HOSTILE: over Intel's runtime (intel), which computes half for real (CLVET_TEST_INTEL), or over
PoCL (pocl), where an added cl_khr_fp16 is a lie that the compiler does not keep.
"""

import json
import os
import pathlib
import subprocess
import sys

LINE = "LLVM ERROR: Cannot select: intrinsic %llvm.bifrost.2586"
POCL = "/usr/lib/x86_64-linux-gnu/libpocl.so.2"


def quantised_half(row):
    return row["combination"]["precision"] == "low" and row["combination"]["memory"] == "low"


def check_report(report, failures, honest_half):
    for row in report["verdicts"]:
        if not quantised_half(row):
            if honest_half and row["verdict"] != "pass":
                failures.append(f"{row['id']}: {row['verdict']}, should pass")
            continue
        evidence = row["evidence"]
        # Without half precision of its own, all half kernels end alike.
        shared = "int_to_half" if honest_half else "half_arith"
        if row["verdict"] == "not-tried" and f"8 kernels with {shared} ended alike" in evidence["note"]:
            continue
        good = (row["verdict"] == "crash" and row["stage"] == "build" and evidence["signal"] == 6
                and LINE in evidence["stderr"] and {"half_arith", "int_to_half"} <= set(row["constructs"]))
        if not good:
            failures.append(f"{row['id']}: {row['verdict']} in {row['stage']}, signal {evidence['signal']}")
    tried = {row["id"].rsplit("/", 1)[0] for row in report["verdicts"] if quantised_half(row) and row["verdict"] == "crash"}
    if len(tried) < 8:
        failures.append(f"variants with half arithmetic and quantised weights that were tried: {tried}")


def run(command, environment):
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)


def check_slow(clvet, model, image, environment, failures):
    """The same driver, but each map or read takes a while: the host is measured to be faster, and answers."""
    state = pathlib.Path(environment["CLVET_STATE_DIR"])
    scenario = json.loads(pathlib.Path(environment["FAKE_CL_SCENARIO"]).read_text())
    scenario["rules"] += [{"match": {"call": call}, "do": {"action": "delay", "ms": 300}}
                          for call in ("clEnqueueMapBuffer", "clEnqueueReadBuffer", "clEnqueueReadImage")]
    (state / "slow.json").write_text(json.dumps(scenario))
    (state / "times.json").unlink(missing_ok=True)
    done = run([clvet, "run", model, "--input", f"x={image}", "--image-size", "192x48", "--mean", "127.5", "--scale",
                "0.00784313725", "--bgr", "--quiet", "--json", "-"],
               dict(environment, FAKE_CL_SCENARIO=str(state / "slow.json")))
    record = json.loads(done.stdout) if done.returncode == 0 else {}
    if record.get("device") != "host" or not record["choice"]["host_ms"] < record["choice"]["device_ms"]:
        failures.append(f"a slow device: exit {done.returncode}, {record.get('device')}, {record.get('choice')} {done.stderr}")


def check_isolated(clvet, model, image, environment, failures):
    """The same driver, but it aborts at a launch: with --isolate the host answers, with --strict, too, nobody does."""
    state = pathlib.Path(environment["CLVET_STATE_DIR"])
    scenario = json.loads(pathlib.Path(environment["FAKE_CL_SCENARIO"]).read_text())
    scenario["rules"] = [{"match": {"call": "clEnqueueNDRangeKernel"}, "do": {"action": "abort"}}]
    (state / "abort.json").write_text(json.dumps(scenario))
    command = [clvet, "run", model, "--input", f"x={image}", "--image-size", "192x48", "--mean", "127.5", "--scale",
               "0.00784313725", "--bgr", "--quiet", "--json", "-", "--isolate", "--device", "0"]
    environment = dict(environment, FAKE_CL_SCENARIO=str(state / "abort.json"))
    done = run(command, environment)
    record = json.loads(done.stdout) if done.returncode == 0 else {}
    if record.get("device") != "host" or "run again on the host" not in done.stderr:
        failures.append(f"an isolated death: exit {done.returncode}, {record.get('device')} {done.stderr}")
    strict = run([*command, "--strict"], environment)
    if strict.returncode != 1 or strict.stdout or "--strict: the driver ended the process" not in strict.stderr:
        failures.append(f"an isolated death, strict: exit {strict.returncode} {strict.stderr}")


def check_driver(clvet, model, images, target, honest_half):
    state = pathlib.Path(os.environ["CLVET_STATE_DIR"]) / pathlib.Path(target).name
    environment = dict(os.environ, CLVET_STATE_DIR=str(state), FAKE_CL_TARGET=target,
                       FAKE_CL_SCENARIO=os.environ["FAKE_SCENARIOS"] + "/mali-g78-half-quant-abort.json")
    failures = []
    probe = run([clvet, "probe", "--library", os.environ["FAKE_CL"], "--json", "-", "--quiet"], environment)
    if probe.returncode != 0:
        return [f"probe: exit {probe.returncode} {probe.stderr}"]
    check_report(json.loads(probe.stdout), failures, honest_half)
    for label in json.loads((images / "labels.json").read_text()):
        done = run([clvet, "run", model, "--input", f"x={images / label['file']}", "--image-size", "192x48", "--mean",
                    "127.5", "--scale", "0.00784313725", "--bgr", "--top", "1"], environment)
        if done.returncode != 0 or f"class {label['class']} " not in done.stdout:
            failures.append(f"run {label['file']}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    check_slow(clvet, model, next(images.glob("*.png")), environment, failures)
    check_isolated(clvet, model, next(images.glob("*.png")), environment, failures)
    return failures


def main():
    clvet, model, images = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    honest_half = os.environ["CLVET_TEST_HOSTILE"] == "intel"
    target = os.environ["CLVET_TEST_INTEL"] + "/lib/libintelocl.so" if honest_half else POCL
    if not os.path.exists(target):
        print(f"skipped: {target} is absent; run 'bash ci/setup.sh --test' first")
        return 77
    failures = check_driver(clvet, model, images, target, honest_half)
    print(f"{target}: {len(failures)} failures")
    print("\n".join(failures[:20]))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
