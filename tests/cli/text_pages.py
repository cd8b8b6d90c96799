"""Pages of text, as the detector of PP-OCRv4 takes them, and how alike two masks of text are."""

import pathlib
import sys

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "ci"))
import render_text  # noqa: E402

TEXT_THRESHOLD = 0.3
IOU = 0.997
PAGES = [
    render_text.PAGE,
    ["Ask the device, not the manual", "16384 bytes of local memory", "Kernels that are right: 212", "Wrong: 3", "Not tried: 0"],
    ["half 65504", "float 3.4e38", "bfloat 3.39e38", "int8 127", "int4 7", "bool true"],
    ["Größe, Maß und Gefühl", "Ελληνικά γράμματα", "Русские буквы", "1 + 1 = 2", "§ 17 (3)", "50 % off!"],
    ["Dear reader,", "this page has a few words", "in rows of unlike length,", "as a letter has them.", "Yours", "The printer"],
    ["INVOICE 2026-11", "12 boards at 34.50", "3 cables at 4.99", "Postage 6.20", "Sum 435.17", "Thank you"],
    ["x = a * b + c", "y = x / sqrt(x * x)", "if y > 0.3: text", "else: paper", "return mask", "# done"],
    ["Platform 4", "Departure 16:42", "Arrival 19:07", "Change at Kassel", "Seat 61, coach 7", "Quiet zone"],
]
# Little of them is text, or the text is small: a pixel at an edge counts for more. Half arithmetic of processors differs: Intel's
# runtime on an Emerald Rapids gives 0.9943 and 0.9895; without a plan there is no text at all.
HARD_PAGES = [["", "", "", "The end of the page"], ["Each row of this page is rather long, so it is set in a small size of the font"] * 6]
HARD_IOU = 0.985


def pixels():
    """640 x 640, blue first, about -1 to 1."""
    for lines in PAGES + HARD_PAGES:
        page = render_text.render_page(lines, render_text.PAGE_FONT).resize((640, 640)).convert("RGB")
        values = numpy.asarray(page, numpy.float32)
        yield ((values[:, :, ::-1].transpose(2, 0, 1)[None] - 127.5) / 127.5).copy()


def mask(probabilities):
    return probabilities > TEXT_THRESHOLD


def iou(left, right):
    """1 where neither has any text."""
    either = numpy.logical_or(left, right).sum()
    return numpy.logical_and(left, right).sum() / either if either else 1.0


def least_iou(number):
    return IOU if number < len(PAGES) else HARD_IOU
