"""The page of `clvet diagnose --html` in a browser: a network of 1,000 nodes, drawn, searched and picked, on a desk and on a phone.

Usage: diagnose_page.py CLVET MODEL IMAGE_DIR. Screenshots lie in $CLVET_STATE_DIR/pages. Exit 77 where there is no Chromium.
"""

import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from browser import Browser

NODES = 1000
HOSTILE = "</script><script>document.title='broken'</script><img src=x onerror=alert(1)> \"quoted\" '& \u202eturned"
FAULT = "block_100/scale_up"


def network(path, count):
    """Blocks of five nodes with a branch and a sum; one overflows half. `count` nodes at least, a hostile name among them."""
    nodes, constants, kept = [], [], None

    def constant(name, value):
        constants.append(numpy_helper.from_array(np.full((1, 1), value, np.float32), name))
        return name

    def node(op, inputs, name):
        nodes.append(helper.make_node(op, inputs, [name + ":0"], name=name))
        return name + ":0"

    at = "x"
    for block in range(count // 5):
        stem = f"block_{block}"
        if block == 100:
            large = node("Mul", [at, constant("large", 3e5)], FAULT)
            at = node("Mul", [large, constant("small", 1 / 3e5)], stem + "/scale_down")
        scaled = node("Mul", [at, constant(f"c{block}", 0.9)], stem + "/scale")
        left = node("Tanh", [scaled], stem + "/branch/left/Tanh")
        right = node("Sigmoid", [scaled], HOSTILE if block == 5 else stem + "/branch/right/Sigmoid")
        joined = node("Add", [left, right], stem + "/join")
        at = node("Add", [joined, at], stem + "/sum") if block % 4 == 1 else node("Relu", [joined], stem + "/Relu")
        kept = joined if block == 100 else kept
    at = node("Add", [at, kept], "output/Add")  # what was wrong in the middle stays wrong
    graph = helper.make_graph(nodes, "tall", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 64])],
                              [helper.make_tensor_value_info(at, TensorProto.FLOAT, [1, 64])], constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)
    return len(nodes)


def diagnose(clvet, model, folder, *options):
    np.save(folder / "x.npy", np.linspace(-1, 1, 64, dtype=np.float32).reshape(1, 64))
    page = folder / "page.html"
    done = subprocess.run([clvet, "diagnose", model, "--input", folder / "x.npy", "--policy", "naive", "--html", page, "--csv",
                           folder / "nodes.csv", "--quiet", *options], capture_output=True, text=True)
    if done.returncode != 1:
        sys.exit(f"clvet diagnose ended with {done.returncode}: {done.stderr}")
    return page


class Test:
    def __init__(self, browser, folder):
        self.browser, self.folder, self.wrong = browser, folder, 0

    def expect(self, what, right, seen=""):
        print(f"{'ok  ' if right else 'WRONG'} {what} {seen}", flush=True)
        self.wrong += not right

    def picked(self):
        return self.browser.value("document.querySelector('#panel .full')?.textContent")

    def scale(self):
        return self.browser.value("view.scale")

    def calm(self):
        faults, self.browser.faults = self.browser.faults, []
        self.expect("nothing complains", not faults, faults[:3])
        others = [url for url in self.browser.requests if not url.endswith("page.html")]
        self.expect("nothing is fetched", not others, others[:3])

    def drawn(self, url, count):
        seconds = self.browser.open(url)
        layout = self.browser.value("+picture.stage.dataset.ms")
        self.expect("the page is ready in a few seconds", seconds < 10, f"{seconds:.1f} s, of which layout {layout} ms")
        boxes = self.browser.value("document.querySelectorAll('#picture .node').length")
        self.expect(f"{count} boxes are drawn", boxes == count, boxes)
        self.expect("no name became markup", self.browser.value("document.title + document.images.length") == "Precision of tall.onnx0")
        self.expect("the origin is picked at first", self.picked() == FAULT, self.picked())

    def desk(self):
        browser = self.browser
        browser.value("document.getElementById('network').scrollIntoView()")
        browser.screenshot(self.folder / "desk-picked.png")
        x, y = browser.middle_of("#picture")
        wheel = self.scale()
        browser.mouse("mouseWheel", x, y, deltaX=0, deltaY=-300)
        self.expect("the wheel zooms", self.scale() > wheel, self.scale())
        browser.value("pick(7)")
        before = browser.value("view.x")
        browser.drag(x + 150, y + 100, 60, 30)
        self.expect("a drag moves the picture, and picks nothing", abs(browser.value("view.x") - before - 60) < 2 and
                    browser.value("picture.picked") == 7)
        box = browser.middle_of("#picture [data-node='8'] .box")
        browser.click(*box)
        self.expect("a click picks a node", browser.value("picture.picked") == 8, self.picked())
        browser.value("document.querySelector('input[value=isolated]').click()")
        self.expect("the other error colours the boxes", browser.value(
            "picture.groups.every((g, i) => g.classList.contains(levelOf(nodes[i].isolated)))"))
        browser.value("document.getElementById('whole').click()")
        browser.screenshot(self.folder / "desk-whole.png")

    def searched(self):
        browser = self.browser
        browser.value("document.getElementById('search').focus()")
        browser.type("block_150/branch")
        names = browser.value("[...document.querySelectorAll('#matches [data-node]')].map((row) => row.textContent)")
        self.expect("a part of a name lists matches", len(names) == 2, names)
        browser.screenshot(self.folder / "search.png")
        browser.key("ArrowDown")
        browser.key("Enter")
        self.expect("Enter picks the match", self.picked() == "block_150/branch/right/Sigmoid", self.picked())
        seen, frame = browser.middle_of("#picture .picked .box"), browser.middle_of("#picture")
        self.expect("and centres it", abs(seen[0] - frame[0]) < 3 and abs(seen[1] - frame[1]) < 3, [seen, frame])
        browser.value("document.getElementById('search').value = ''")
        browser.value("document.getElementById('search').focus()")
        browser.type("</script>")
        browser.key("Enter")
        self.expect("a hostile name is text", (self.picked() or "").startswith("</script><script>document.title"), self.picked())
        self.expect("marks that turn writing are not shown", "\u202e" not in browser.value("document.documentElement.textContent"))

    def linked(self):
        browser = self.browser
        browser.value("document.querySelector('#origins a').click()")
        self.expect("a link of the text picks its node", self.picked() == FAULT, self.picked())
        browser.value("document.querySelector('#panel .links a').click()")
        self.expect("a link to what it reads picks that", self.picked() != FAULT, self.picked())
        browser.value("document.getElementById('depth').scrollIntoView()")
        x, y = browser.middle_of("#chart")
        browser.click(x, y)
        middle = browser.value("picture.picked") / browser.value("nodes.length")
        self.expect("a click into the chart picks the node there", 0.4 < middle < 0.6, middle)
        browser.screenshot(self.folder / "desk-chart.png")
        browser.value("scrollTo(0, 0)")
        browser.screenshot(self.folder / "desk-top.png")

    def phone(self, url):
        browser = self.browser
        browser.size(390, 844, phone=True)
        browser.open(url)
        browser.screenshot(self.folder / "phone-top.png")
        wide = browser.value("[document.documentElement.scrollWidth, innerWidth]")
        self.expect("a phone shows the page without scrolling sideways", wide[0] <= 390 and wide[1] == 390, wide)
        browser.value("document.getElementById('network').scrollIntoView()")
        browser.screenshot(self.folder / "phone-network.png")
        x, y = browser.middle_of("#picture")
        before = browser.value("view.x")
        browser.touch([(x, y)], [(x + 20, y)], [(x + 50, y)])
        self.expect("a finger moves the picture", browser.value("view.x") > before + 30)
        before = self.scale()
        browser.touch([(x - 30, y), (x + 30, y)], [(x - 30, y), (x + 45, y)], [(x - 30, y), (x + 90, y)])
        self.expect("two fingers zoom", self.scale() > before * 1.3, [before, self.scale()])
        browser.value("document.getElementById('panel').scrollIntoView()")
        browser.screenshot(self.folder / "phone-panel.png")
        browser.value("document.getElementById('depth').scrollIntoView()")
        browser.screenshot(self.folder / "phone-chart.png")
        browser.screenshot(self.folder / "phone-all.png", whole=True)
        self.calm()


def main():
    if not shutil.which("chromium"):
        print("skipped: there is no chromium; 'bash ci/setup.sh --test' installs it")
        return 77
    folder = pathlib.Path(os.environ["CLVET_STATE_DIR"]).resolve() / "pages"
    folder.mkdir(parents=True, exist_ok=True)
    model = folder / "tall.onnx"
    count = network(model, NODES)
    page = diagnose(sys.argv[1], model, folder)
    browser = Browser()
    try:
        test = Test(browser, folder)
        test.drawn(page.as_uri(), count)
        test.desk()
        test.searched()
        test.linked()
        test.calm()
        test.phone(page.as_uri())
        diagnose(sys.argv[1], model, folder, "--lang", "zh")
        browser.open(page.as_uri())
        browser.screenshot(folder / "phone-chinese.png", whole=True)
        words = browser.value("document.querySelector('#panel').textContent")
        test.expect("the scripts speak Chinese", "数值范围" in words and "Range" not in words)
        test.calm()
    finally:
        browser.close()
    return 1 if test.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
