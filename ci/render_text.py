#!/usr/bin/env python3
"""Renders the text images of tests/data/images and their labels.

    ci/render_text.py tests/data/images

The images are ours: Pillow's bundled font, text that we made up. Labels are the classes of the
PP-OCR direction model: 0 upright, 1 turned by 180 degrees.
"""
import json
import pathlib
import sys

from PIL import Image, ImageDraw, ImageFont

WIDTH, HEIGHT = 192, 48
ROWS = [  # text, ink, paper, degrees
    ("OpenCL device", (20, 20, 20), (255, 255, 255), 0),
    ("Kernel ready", (10, 30, 110), (244, 240, 225), 180),
    ("Board 4711", (250, 250, 245), (40, 70, 60), 0),
    ("no half here", (120, 20, 20), (230, 235, 240), 180),
    ("Right answer", (30, 30, 30), (205, 225, 205), 0),
]


def render(text, ink, paper):
    image = Image.new("RGB", (WIDTH, HEIGHT), paper)
    draw = ImageDraw.Draw(image)
    size = 40
    while True:
        font = ImageFont.load_default(size)
        left, top, right, bottom = draw.textbbox((0, 0), text, font=font)
        if right - left <= WIDTH - 12 and bottom - top <= HEIGHT - 10:
            break
        size -= 1
    at = ((WIDTH - right - left) / 2, (HEIGHT - bottom - top) / 2)
    draw.text(at, text, font=font, fill=ink)
    return image


def main(folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    labels = []
    for number, (text, ink, paper, degrees) in enumerate(ROWS, 1):
        image = render(text, ink, paper)
        if degrees:
            image = image.rotate(degrees)
        name = f"text-{number}.png"
        image.save(folder / name, optimize=True)
        labels.append({"file": name, "text": text, "degrees": degrees, "class": degrees // 180})
    (folder / "labels.json").write_text(json.dumps(labels, indent=2) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
