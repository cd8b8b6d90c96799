"""The page of `clvet report html` in a browser: on a phone no word is broken or cut off, and on paper speeds are bars.

Usage: report_page.py CLVET MODEL IMAGE_DIR. Screenshots lie in $CLVET_STATE_DIR/pages. Exit 77 where there is no Chromium.
"""

import os
import pathlib
import shutil
import subprocess
import sys

from browser import Browser

PHONE = 390

# Words of up to 16 letters that stand on more than one line (a longer name may have to, and any may after - and /), and boxes
# whose content is wider than they are.
FAULTS = """(() => {
  const broken = [], walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode());) {
    if (node.parentElement.closest("pre, code, style")) continue;
    for (const word of node.data.matchAll(/(?<![!-~])[!-,.0-~]{2,16}(?![!-~])/g)) {
      const range = document.createRange();
      range.setStart(node, word.index);
      range.setEnd(node, word.index + word[0].length);
      const lines = new Set([...range.getClientRects()].map((box) => Math.round(box.top)));
      if (lines.size > 1 && range.startContainer.parentElement.checkVisibility()) broken.push(word[0]);
    }
  }
  const wide = [...document.querySelectorAll(".wide, html")].filter((box) => box.scrollWidth > box.clientWidth + 1);
  return { broken, wide: wide.map((box) => box.getAttribute("aria-label") || box.tagName) };
})()"""
OPEN_ALL = "for (const fold of document.querySelectorAll('details')) fold.open = true"
BARS = "[...document.querySelectorAll('.bar rect')].map((bar) => bar.getBoundingClientRect().width)"


def expect(what, right, seen=""):
    print(f"{'ok  ' if right else 'WRONG'} {what} {seen}", flush=True)
    return right


def phone(browser, page, folder, lang):
    browser.size(PHONE, 900)
    browser.open(page.as_uri())
    browser.value(OPEN_ALL)
    found = browser.value(FAULTS)
    browser.screenshot(folder / f"phone-{lang}.png", whole=True)
    return [expect(f"{lang}: no word is broken at {PHONE} pixels", not found["broken"], found["broken"][:20]),
            expect(f"{lang}: nothing is wider than the phone", not found["wide"], found["wide"])]


def paper(browser, page, folder):
    browser.size(1000, 1200)
    browser.open(page.as_uri())
    browser.call("Emulation.setEmulatedMedia", media="print")
    bars = browser.value(BARS)
    browser.screenshot(folder / "paper.png", whole=True)
    browser.call("Emulation.setEmulatedMedia", media="")
    longest = max(bars, default=0)
    return [expect("paper shows speeds as bars", longest > 50 and len(set(bars)) > 3, f"{len(bars)} bars")]


def main():
    if not shutil.which("chromium"):
        print("skipped: no chromium")
        sys.exit(77)
    folder = pathlib.Path(os.environ["CLVET_STATE_DIR"]).resolve() / "pages"
    folder.mkdir(exist_ok=True)
    browser, results = Browser(), []
    for lang in ("en", "zh"):
        page = folder / f"report-{lang}.html"
        subprocess.run([sys.argv[1], "report", "html", "--lang", lang, "--out", page, "--quiet"], check=True)
        results += phone(browser, page, folder, lang)
    results += paper(browser, page, folder)
    results.append(expect("nothing complains, nothing is fetched", not browser.faults, browser.faults[:3]))
    browser.close()
    sys.exit(0 if all(results) else 1)


main()
