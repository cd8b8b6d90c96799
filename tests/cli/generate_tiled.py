"""A head that exceeds the device's images lies in several of them, and the words stay right.

Usage: generate_tiled.py CLVET MODEL_DIR IMAGE_DIR. A report of this machine's driver is given smaller images than the
driver has, so that SmolLM2's 49,152 rows (12,288 texels) need three.
"""

import json
import os
import pathlib
import subprocess
import sys

from reports import report_of

GOLDEN = pathlib.Path(__file__).parent.parent / "data/golden/smollm2-135m-q4_1.json"


def main():
    clvet, model = sys.argv[1], str(pathlib.Path(sys.argv[2]) / "SmolLM2-135M-Instruct.Q4_1.gguf")
    report, _ = report_of(clvet)
    device = next(d for d in report["devices"] if int(d["properties"].get("CL_DEVICE_IMAGE2D_MAX_WIDTH", "0")) > 4096)
    device["properties"]["CL_DEVICE_IMAGE2D_MAX_WIDTH"] = "4096"
    path = pathlib.Path(os.environ["CLVET_STATE_DIR"]) / "small-images.json"
    path.write_text(json.dumps(report))
    done = subprocess.run([clvet, "generate", model, "--teacher-forced", str(GOLDEN), "--report", str(path), "--strict", "--device",
                           device["name"], "--precision", "high", "--weights", "image"], capture_output=True, text=True, timeout=600)
    print(done.stdout, done.stderr)
    right = (done.returncode == 0 and "teacher-forced: 144 of 144" in done.stdout and "float32 argmax: 158 of 158" in done.stdout
             and "image" in done.stdout and "lies in 3 of them" in done.stderr)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
