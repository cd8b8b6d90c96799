"""Rendered pages read by clvet_ocr on the host and on every device that a report allows, against the text rendered.

Usage: read_pages.py CLVET CLVET_OCR MODELS IMAGE_DIR RENDERER FONT. Needs Pillow. The state folder is the caller's
(CLVET_STATE_DIR); a report is made there if there is none. The page of the repository is read as it is, upside down
and lying on its side; a page with other lines is rendered here. Spaces do not count.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

from PIL import Image

OTHER = ["Kernel crashed: line 88", "Buffers and images", "Wrong by 3 bits", "clvet probe --tier full",
         "Driver 2.1 says yes", "Quiet 2026, no fallback"]


def read(program, models, page, device):
    command = [program, page, "--models", models, "--device", device, "--json", "-"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout)


def squeeze(lines):
    return ["".join(line.split()) for line in lines]


def main():
    clvet, program, models, images, renderer, font = sys.argv[1:]
    probe = subprocess.run([clvet, "probe", "--if-changed", "--json", "-", "--quiet"], capture_output=True, text=True,
                           timeout=600)
    if probe.returncode != 0:
        raise SystemExit(f"probe: exit {probe.returncode}\n{probe.stderr}")
    devices = ["host"] + [str(i) for i, row in enumerate(json.loads(probe.stdout)["devices"]) if row["best"]]
    lines = (pathlib.Path(images) / "page.txt").read_text().splitlines()
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        page = Image.open(pathlib.Path(images) / "page.png")
        page.rotate(180).save(folder / "upside-down.png")
        page.rotate(90, expand=True).save(folder / "on-its-side.png")
        subprocess.run([sys.executable, renderer, "--page", font, folder / "other.png", *OTHER], check=True)
        pages = [(pathlib.Path(images) / "page.png", lines), (folder / "other.png", OTHER)]
        turned = [(folder / "upside-down.png", lines), (folder / "on-its-side.png", lines)]
        for device in devices:
            for path, want in pages + (turned if device == "host" else []):
                done = read(program, models, path, device)
                got = [line["text"] for line in done["lines"]]
                where = [run["device"] for run in done["runs"]]
                on_device = sum(run["on_opencl"] for run in done["runs"])
                right = squeeze(got) == squeeze(want) and (device == "host" or on_device > 0)
                failures += not right
                print(f"{'right' if right else 'WRONG'}  {path.name} on {where}: {on_device} nodes on OpenCL")
                if not right:
                    print("  read", got, "\n  want", want)
    if failures:
        raise SystemExit(f"{failures} pages were read wrong")


if __name__ == "__main__":
    main()
