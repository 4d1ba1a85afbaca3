"""A headless Chromium for tests, driven over its DevTools pipe: no package, no port, no network."""

import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from base64 import b64decode

import pytest

FLAGS = [
    "--headless", "--no-sandbox", "--no-first-run", "--disable-gpu", "--disable-quic",
    "--disable-sync", "--disable-extensions", "--disable-default-apps", "--disable-dev-shm-usage",
    "--disable-background-networking", "--disable-component-update", "--remote-debugging-pipe",
]  # fmt: skip
KEYS = {  # name: (code, Windows key code, text)
    "ArrowLeft": ("ArrowLeft", 37, ""),
    "ArrowRight": ("ArrowRight", 39, ""),
    "Home": ("Home", 36, ""),
    "End": ("End", 35, ""),
    "Tab": ("Tab", 9, ""),
    " ": ("Space", 32, " "),
}


def chromium():
    """The path of a Chromium; skip the test if there is none, fail if this is a CI machine."""
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    path = next(filter(None, map(shutil.which, names)), None)
    if path is None:
        word = "Chromium is not installed (apt-get install chromium)."
        pytest.fail(word) if os.environ.get("CI") == "true" else pytest.skip(word)
    return path


class Browser:
    """One page in one Chromium, offline; remembers what it requested and what it complained of."""

    def __init__(self, width=1280, height=900):
        self.requests, self.complaints = [], []
        self._id, self._buffer, self._session = 0, b"", None
        self._start(chromium())
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call(
            "Network.emulateNetworkConditions",
            offline=True, latency=0, downloadThroughput=0, uploadThroughput=0,
        )  # fmt: skip
        self.resize(width, height)

    def _start(self, path):
        """Chromium reads commands from its file descriptor 3 and answers on 4."""
        self._profile = tempfile.mkdtemp(prefix="chromium-")
        commands, self._write = os.pipe()
        self._read, answers = os.pipe()

        def place():
            ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (commands, answers)]
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)

        self._process = subprocess.Popen(
            [path, *FLAGS, f"--user-data-dir={self._profile}"],
            preexec_fn=place, pass_fds=(3, 4), stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(commands)
        os.close(answers)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        os.close(self._write)
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._read)
        shutil.rmtree(self._profile, ignore_errors=True)

    def call(self, method, **parameters):
        """Send one command and return its result."""
        self._id += 1
        message = {"id": self._id, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while (answer := self._next(30)).get("id") != self._id:
            pass
        assert "error" not in answer, f"{method}: {answer['error']}"
        return answer["result"]

    def _next(self, seconds):
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], seconds)
            assert ready, "Chromium does not answer."
            piece = os.read(self._read, 1 << 20)
            assert piece, "Chromium has gone."
            self._buffer += piece
        line, self._buffer = self._buffer.split(b"\0", 1)
        message = json.loads(line)
        self._note(message)
        return message

    def _note(self, message):
        method, parameters = message.get("method"), message.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
        elif method in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
            self.complaints.append(parameters)

    def open(self, url):
        """Load a page and wait until its script has run."""
        self.run("window.left = true")  # the page before may answer for a while, and is complete
        arrived = self.call("Page.navigate", url=url)
        ready = "document.readyState === 'complete' && Boolean(window.rosenblatt)"
        another = "loaderId" in arrived  # not if only the fragment is new
        self.wait(f"!window.left && {ready}" if another else ready)

    def run(self, script):
        """The value of a JavaScript expression in the page."""
        result = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def wait(self, condition, seconds=10):
        """Wait until a JavaScript condition holds."""
        end = time.monotonic() + seconds
        while not self.run(condition):
            assert time.monotonic() < end, f"in vain: {condition}"
            time.sleep(0.02)

    def press(self, key):
        """Press and release a key."""
        code, number, text = KEYS[key]
        common = {"key": key, "code": code, "windowsVirtualKeyCode": number}
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **common)
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def click(self, x, y):
        """Click at a place in the window."""
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def resize(self, width, height):
        """Give the window another size."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=False,
        )  # fmt: skip

    def prefer(self, **features):
        """Set media features, such as ``color_scheme="dark"``."""
        pairs = [
            {"name": f"prefers-{name.replace('_', '-')}", "value": value}
            for name, value in features.items()
        ]
        self.call("Emulation.setEmulatedMedia", features=pairs)

    def screenshot(self, path):
        """Save the whole page as a PNG."""
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=True)
        with open(path, "wb") as file:
            file.write(b64decode(shot["data"]))
