# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Headless Chromium, driven through its DevTools protocol over two pipes: nothing but Python's own
library is needed. https://chromedevtools.github.io/devtools-protocol/"""
import json
import os
import shutil
import subprocess
import tempfile

NAMES = ("chromium", "chromium-browser", "google-chrome")


def find():
    """Path of a browser, or None."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Browser:
    """One page in one browser. What the page reports as wrong is in `errors`, what it asked for
    in `requests`."""

    def __init__(self, program):
        self.profile = tempfile.mkdtemp(prefix="br2pgo-browser-")
        to_browser, self.write_end = os.pipe()
        self.read_end, from_browser = os.pipe()
        command = [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
                   "--disable-dev-shm-usage", "--remote-debugging-pipe",
                   "--user-data-dir=" + self.profile, "about:blank"]
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{to_browser} 4>&{from_browser}', "browser", *command],
            pass_fds=(to_browser, from_browser), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.received = b""
        self.number = 0
        self.session = None
        self.errors = []
        self.requests = []
        self.events = []
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(target for target in targets if target["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=page["targetId"],
                                 flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def message(self):
        while b"\0" not in self.received:
            data = os.read(self.read_end, 1 << 20)
            if not data:
                raise EOFError("the browser ended")
            self.received += data
        text, self.received = self.received.split(b"\0", 1)
        return json.loads(text)

    def note(self, message):
        method, values = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(values["exceptionDetails"])[:600])
        elif method == "Log.entryAdded" and values["entry"]["level"] == "error":
            self.errors.append(values["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(values["request"]["url"])
        self.events.append(method)

    def call(self, method, **values):
        self.number += 1
        request = {"id": self.number, "method": method, "params": values}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.write_end, json.dumps(request).encode() + b"\0")
        while True:
            message = self.message()
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            self.note(message)

    def open(self, path, fragment=""):
        self.events.clear()
        self.call("Page.navigate", url="file://" + os.path.realpath(path) + fragment)
        while "Page.loadEventFired" not in self.events:
            self.note(self.message())

    def ask(self, script):
        """The value of an expression in the page."""
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{script}: {json.dumps(result['exceptionDetails'])[:600]}")
        return result["result"].get("value")

    def press(self, key, text=""):
        codes = {"Enter": 13, "Tab": 9, "ArrowRight": 39, "ArrowLeft": 37, "/": 191}
        values = {"key": key, "windowsVirtualKeyCode": codes.get(key, 0), "text": text}
        self.call("Input.dispatchKeyEvent", type="keyDown", **values)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key,
                  windowsVirtualKeyCode=codes.get(key, 0))
        self.settle()

    def type(self, text):
        self.call("Input.insertText", text=text)
        self.settle()

    def settle(self):
        """Until what was asked for is drawn."""
        self.ask("new Promise(done => requestAnimationFrame(() => setTimeout(done, 0)))")

    def window(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)
        self.settle()

    def scheme(self, name):
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": name}])
        self.settle()

    def picture(self, path):
        import base64
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def close(self):
        try:
            self.session = None
            self.call("Browser.close")
        except (OSError, EOFError, RuntimeError):
            pass
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.read_end)
        os.close(self.write_end)
        shutil.rmtree(self.profile, ignore_errors=True)
