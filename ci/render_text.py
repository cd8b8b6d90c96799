#!/usr/bin/env python3
"""Renders the text images of tests/data/images and their labels.

    ci/render_text.py tests/data/images              the lines text-1.png ... and labels.json, page.png and page.txt
    ci/render_text.py --page FONT.ttf out.png LINE...   a page of these lines, 640 x 480

The images are ours: text that we made up, lines in Pillow's bundled font, the page in DejaVu Sans. Labels are the
classes of the PP-OCR direction model: 0 upright, 1 turned by 180 degrees.
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

PAGE = [
    "OpenCL says what it can do",
    "Trust 7 kernels of 12, not all",
    "Half precision: right or wrong?",
    "Board 4711, driver r32p1",
    "Matrix 640 x 480 in 3.5 ms",
    "The answer is in the report.",
]
PAGE_FONT = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"


def render_page(lines, font):
    image = Image.new("RGB", (640, 480), (250, 249, 244))
    draw = ImageDraw.Draw(image)
    for row, text in enumerate(lines):
        size = 30
        while ImageFont.truetype(font, size).getlength(text) > 580:
            size -= 1
        draw.text((28, 28 + row * 72), text, font=ImageFont.truetype(font, size), fill=(25, 25, 35))
    return image


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
    render_page(PAGE, PAGE_FONT).save(folder / "page.png", optimize=True)
    (folder / "page.txt").write_text("\n".join(PAGE) + "\n")
    (folder / "labels.json").write_text(json.dumps(labels, indent=2) + "\n")


if __name__ == "__main__":
    if len(sys.argv) == 2:
        main(sys.argv[1])
    elif len(sys.argv) > 4 and sys.argv[1] == "--page":
        render_page(sys.argv[4:], sys.argv[2]).save(sys.argv[3])
    else:
        sys.exit(__doc__)
