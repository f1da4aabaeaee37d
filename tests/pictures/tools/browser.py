"""Chromium without a window, spoken to in the DevTools protocol through a pipe.

    with Browser() as browser:
        page = browser.open("file:///x.html", width=400, dark=True)
        page.run("document.title")
        page.complaints    # of console, log, policy and network
"""
import base64
import json
import os
import shutil
import subprocess
import tempfile


def find():
    """The browser's path, or None."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


class Page:
    """One tab."""

    def __init__(self, browser, session):
        self._browser = browser
        self._session = session
        self.complaints = []
        self.requests = []
        self.has_loaded = False

    def call(self, method, **params):
        """A command of the protocol; its result."""
        return self._browser.call(method, self._session, **params)

    def run(self, script):
        """The value of a script, which may be a promise."""
        answer = self.call("Runtime.evaluate", expression=script,
                           returnByValue=True, awaitPromise=True,
                           userGesture=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def look(self, width, height=900, dark=False, media=""):
        """Size of the window, and what the reader prefers."""
        self.call("Emulation.setDeviceMetricsOverride", width=width,
                  height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", media=media, features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def press(self, key):
        """A key that has no character."""
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key,
                      windowsVirtualKeyCode={"Tab": 9, "Enter": 13, "ArrowDown": 40}[key],
                      **({"text": "\r"} if key == "Enter" and kind == "keyDown" else {}))

    def point(self, x, y):
        """Moves the mouse there."""
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def save(self, path, whole=False):
        """What is to be seen, as PNG."""
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=whole,
                         **({"clip": self._all()} if whole else {}))
        with open(path, "wb") as out:
            out.write(base64.b64decode(shot["data"]))

    def _all(self):
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        return {"x": 0, "y": 0, "width": size["width"],
                "height": min(size["height"], 12000), "scale": 1}

    def hear(self, method, params):
        """An event of this tab."""
        if method == "Page.loadEventFired":
            self.has_loaded = True
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(params["exceptionDetails"].get("text", "exception"))
        elif method == "Runtime.consoleAPICalled":
            self.complaints.append("console." + params["type"])
        elif method == "Log.entryAdded":
            self.complaints.append(params["entry"]["text"])
        elif method == "Page.javascriptDialogOpening":
            self.complaints.append("dialog: " + params["message"])
            self._browser.post("Page.handleJavaScriptDialog", self._session, accept=True)


class Browser:
    """The program, with a profile of its own that goes with it."""

    def __init__(self):
        self._profile = tempfile.mkdtemp(prefix="sb-browser-")
        self._count = 0
        self._pages = {}
        self._rest = b""
        hears, self._says = os.pipe()
        self._hears, says = os.pipe()
        flags = ["--headless=new", "--remote-debugging-pipe", "--no-sandbox",
                 "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                 "--disable-extensions", "--disable-background-networking",
                 "--hide-scrollbars", "--user-data-dir=" + self._profile]
        # The protocol is spoken on descriptors 3 and 4.
        self._process = subprocess.Popen(
            ["sh", "-c", f'exec "$0" "$@" 3<&{hears} 4>&{says}', find(), *flags],
            pass_fds=(hears, says), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(hears)
        os.close(says)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        try:
            self.call("Browser.close")
            self._process.wait(5)
        except (EOFError, OSError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        os.close(self._says)
        os.close(self._hears)
        shutil.rmtree(self._profile, ignore_errors=True)

    def post(self, method, session=None, **params):
        """A command whose answer nobody waits for; its number."""
        self._count += 1
        message = {"id": self._count, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        os.write(self._says, json.dumps(message).encode() + b"\0")
        return self._count

    def _next(self):
        while b"\0" not in self._rest:
            more = os.read(self._hears, 1 << 16)
            if not more:
                raise EOFError("the browser has ended")
            self._rest += more
        message, self._rest = self._rest.split(b"\0", 1)
        return json.loads(message)

    def _hear(self):
        """The next message, if it is an answer; events go to their tabs."""
        message = self._next()
        page = self._pages.get(message.get("sessionId"))
        if "method" in message and page:
            page.hear(message["method"], message["params"])
        return message

    def call(self, method, session=None, **params):
        """A command; its result."""
        number = self.post(method, session, **params)
        while True:
            message = self._hear()
            if message.get("id") == number:
                if "error" in message:
                    raise RuntimeError(method + ": " + message["error"]["message"])
                return message["result"]

    def open(self, url, width=1400, dark=False, scripts=True):
        """A new tab, when it has loaded."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target,
                            flatten=True)["sessionId"]
        page = self._pages[session] = Page(self, session)
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.call(domain + ".enable")
        page.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        page.look(width, dark=dark)
        page.has_loaded = False
        page.requests.clear()
        page.call("Page.navigate", url=url)
        while not page.has_loaded:
            self._hear()
        return page
