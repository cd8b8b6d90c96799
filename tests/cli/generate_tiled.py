"""A head that exceeds the device's images lies in several of them, and the words stay right.

Usage: generate_tiled.py CLVET MODEL_DIR IMAGE_DIR. FAKE_CL and FAKE_SCENARIOS name the hostile driver and its scenarios; it
stands before PoCL and says that images are at most 4096 texels wide, so that SmolLM2's 49,152 rows (12,288 texels) need three.
"""

import glob
import os
import pathlib
import subprocess
import sys

GOLDEN = pathlib.Path(__file__).parent.parent / "data/golden/smollm2-135m-q4_1.json"


def main():
    clvet, model = sys.argv[1], str(pathlib.Path(sys.argv[2]) / "SmolLM2-135M-Instruct.Q4_1.gguf")
    driver = glob.glob("/usr/lib/*/libpocl.so.2")
    if not driver:
        print("skipped: run 'bash ci/setup.sh --test' first")
        return 77
    state = pathlib.Path(os.environ["CLVET_STATE_DIR"])
    (state / "fake.icd").write_text(os.environ["FAKE_CL"] + "\n")
    environment = dict(os.environ, OCL_ICD_VENDORS=str(state / "fake.icd"), FAKE_CL_TARGET=driver[0],
                       FAKE_CL_SCENARIO=os.environ["FAKE_SCENARIOS"] + "/small-images.json")
    done = subprocess.run([clvet, "generate", model, "--teacher-forced", str(GOLDEN), "--strict", "--precision", "high",
                           "--weights", "image", "--device", "0"],
                          env=environment, capture_output=True, text=True, timeout=600)
    print(done.stdout, done.stderr)
    right = (done.returncode == 0 and "teacher-forced: 144 of 144" in done.stdout and "float32 argmax: 158 of 158" in done.stdout
             and "image" in done.stdout and "is split across 3 images" in done.stderr)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
