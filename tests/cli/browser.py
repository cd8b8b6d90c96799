"""A headless Chromium that a test steers: DevTools' protocol over a pipe, with the standard library alone."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

TIMEOUT = 60  # seconds for an answer


class Browser:
    """With one page. `faults`: what the console, the policy or a script complained of; `requests`: what was asked for."""

    def __init__(self, width=1280, height=900):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        commands, self.commands = os.pipe()
        self.answers, answers = os.pipe()
        # The browser reads from descriptor 3 and writes to 4.
        start = f'exec "$0" "$@" 3<&{commands} 4>&{answers}'
        self.process = subprocess.Popen(
            ["bash", "-c", start, shutil.which("chromium"), "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
             "--disable-dev-shm-usage", "--disable-background-networking", "--remote-debugging-pipe", "--user-data-dir=" + self.folder.name,
             "about:blank"],
            pass_fds=(commands, answers), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(commands)
        os.close(answers)
        self.number, self.buffer, self.session, self.faults, self.requests, self.loaded = 0, b"", None, [], [], False
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.size(width, height)

    def message(self, until):
        while b"\0" not in self.buffer:
            if not select.select([self.answers], [], [], max(0, until - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            piece = os.read(self.answers, 1 << 20)
            if not piece:
                raise RuntimeError("the browser has ended")
            self.buffer += piece
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def note(self, event):
        method, told = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.faults.append(json.dumps(told["exceptionDetails"])[:600])
        elif method == "Runtime.consoleAPICalled":
            self.faults.append("console: " + json.dumps(told["args"])[:300])
        elif method == "Log.entryAdded":
            self.faults.append("log: " + told["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(told["request"]["url"])
        elif method == "Page.loadEventFired":
            self.loaded = True

    def call(self, name, **parameters):
        self.number += 1
        command = {"id": self.number, "method": name, "params": parameters}
        if self.session:
            command["sessionId"] = self.session
        os.write(self.commands, json.dumps(command).encode() + b"\0")
        until = time.monotonic() + TIMEOUT
        while True:
            message = self.message(until)
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(f"{name}: {message['error']}")
                return message["result"]
            self.note(message)

    def size(self, width, height, phone=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=phone)
        self.call("Emulation.setTouchEmulationEnabled", enabled=phone)

    def open(self, url):
        """Seconds until the page and its scripts are done."""
        self.loaded, started = False, time.monotonic()
        self.call("Page.navigate", url=url)
        until = time.monotonic() + TIMEOUT
        while not self.loaded:
            self.note(self.message(until))
        self.value("1")  # after what is still at work
        return time.monotonic() - started

    def value(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(json.dumps(result["exceptionDetails"])[:600])
        return result["result"].get("value")

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x, y):
        self.mouse("mousePressed", x, y, button="left", clickCount=1)
        self.mouse("mouseReleased", x, y, button="left", clickCount=1)

    def drag(self, x, y, by_x, by_y):
        self.mouse("mousePressed", x, y, button="left", clickCount=1)
        for part in (0.3, 0.7, 1):
            self.mouse("mouseMoved", x + by_x * part, y + by_y * part, button="left", buttons=1)
        self.mouse("mouseReleased", x + by_x, y + by_y, button="left", clickCount=1)

    def touch(self, *steps):
        """Each step: where the fingers are; the first puts them down, the last is followed by their end."""
        for at, points in enumerate(steps):
            self.call("Input.dispatchTouchEvent", type="touchMove" if at else "touchStart",
                      touchPoints=[{"x": x, "y": y, "id": i} for i, (x, y) in enumerate(points)])
        self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def type(self, text):
        self.call("Input.insertText", text=text)

    def key(self, name):
        code = {"Enter": 13, "ArrowDown": 40, "ArrowUp": 38, "Escape": 27}[name]
        for kind in ("rawKeyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=name, code=name, windowsVirtualKeyCode=code)

    def middle_of(self, selector):
        return self.value(f"(() => {{ const r = document.querySelector({json.dumps(selector)}).getBoundingClientRect();"
                          " return [r.x + r.width / 2, r.y + r.height / 2]; })()")

    def screenshot(self, path, whole=False):
        clip = {}
        if whole:
            size = self.call("Page.getLayoutMetrics")["cssContentSize"]
            clip = {"clip": {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 8000), "scale": 1}}
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole, **clip)
        with open(path, "wb") as file:
            file.write(base64.b64decode(shot["data"]))

    def close(self):
        self.session = None
        try:
            self.call("Browser.close")
        except (RuntimeError, TimeoutError, OSError):
            pass
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.folder.cleanup()
