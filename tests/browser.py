"""A headless Chromium, driven through a pair of pipes: what it is told and what it tells are messages of DevTools."""

from __future__ import annotations

import base64
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from select import select
from typing import Any

import programs

QUIET = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--remote-debugging-pipe",
]
PATIENCE = 60.0
"""Seconds until a browser that does not answer is taken for dead."""


class Browser:
    """One page in one browser. Whatever the browser does, nothing here waits longer than its patience."""

    def __init__(self, profile: Path, program: str | None = None, patience: float = PATIENCE) -> None:
        if program is None:
            programs.demand("chromium")
            program = str(programs.find("chromium"))
        hears, tells = os.pipe()
        listens, speaks = os.pipe()
        argv = [program, *QUIET, f"--user-data-dir={profile}", "about:blank"]
        script = f"import os, sys; os.dup2({hears}, 3); os.dup2({speaks}, 4); os.execv(sys.argv[1], sys.argv[1:])"
        self.process = subprocess.Popen(
            [sys.executable, "-ISc", script, *argv],
            env={**os.environ, "PATH": programs.WHOLE},  # many browsers are scripts that start other programs
            pass_fds=(hears, speaks),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(hears)
        os.close(speaks)
        os.set_blocking(tells, False)
        self.tells, self.listens, self.patience = tells, listens, patience
        self.read, self.number, self.session = b"", 0, ""
        self.told: list[dict[str, Any]] = []

    def attach(self) -> None:
        """Take hold of the page that the browser begins with."""
        targets = self.ask("Target.getTargets")["targetInfos"]
        page = next(each["targetId"] for each in targets if each["type"] == "page")
        self.session = self.ask("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.ask(f"{domain}.enable")
        self.size(1280, 800)

    def close(self) -> None:
        """End the browser, by force if it does not end when it is asked to."""
        self.session = ""
        with suppress(AssertionError, OSError):
            self.ask("Browser.close")
        os.close(self.tells)
        os.close(self.listens)
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(self.patience)
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(self.patience)

    def ask(self, method: str, **given: object) -> dict[str, Any]:
        """Send a command and return what is answered; what is told in between is kept."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": given}
        if self.session:
            message["sessionId"] = self.session
        until = time.monotonic() + self.patience
        self._say(json.dumps(message).encode() + b"\0", until)
        while True:
            heard = self._hear(until)
            if heard.get("id") == self.number:
                assert "error" not in heard, heard
                answer: dict[str, Any] = heard["result"]
                return answer
            self.told.append(heard)

    def _say(self, written: bytes, until: float) -> None:
        while written:
            _, ready, _ = select([], [self.tells], [], max(0.0, until - time.monotonic()))
            assert ready, "the browser does not listen"
            written = written[os.write(self.tells, written) :]

    def _hear(self, until: float) -> dict[str, Any]:
        while b"\0" not in self.read:
            ready, _, _ = select([self.listens], [], [], max(0.0, until - time.monotonic()))
            assert ready, "the browser does not answer"
            more = os.read(self.listens, 1 << 20)
            assert more, "the browser has gone"
            self.read += more
        assert time.monotonic() < until, "the browser does not answer"
        line, _, self.read = self.read.partition(b"\0")
        heard: dict[str, Any] = json.loads(line)
        return heard

    def size(self, width: int, height: int, *, scheme: str = "light", motion: str = "", media: str = "") -> None:
        """Make the window so large, its colours light or dark, its motion `reduce`d, and paper of it with `print`."""
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        wanted = {"prefers-color-scheme": scheme, "prefers-reduced-motion": motion}
        features = [{"name": name, "value": each} for name, each in wanted.items()]
        self.ask("Emulation.setEmulatedMedia", media=media, features=features)

    @contextmanager
    def window(self) -> Iterator[None]:
        """Open a second window, to which everything is told until it is closed; both have the same cookies."""
        first, self.session = self.session, ""
        target = self.ask("Target.createTarget", url="about:blank", newWindow=True)["targetId"]
        try:
            self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            for domain in ("Page", "Runtime", "Network", "Log"):
                self.ask(f"{domain}.enable")
            yield
        finally:
            self.session = ""
            self.ask("Target.closeTarget", targetId=target)
            self.session = first

    def open(self, path: Path) -> None:
        """Open a file and wait until it has been read and drawn."""
        self.visit(path.as_uri())

    def visit(self, url: str) -> None:
        """Open an address and wait until what is there has been read and drawn."""
        self.told.clear()
        self.leave()  # an address with another fragment alone would load nothing
        self.told.clear()
        self.ask("Page.navigate", url=url)
        until = time.monotonic() + self.patience
        while not any(each.get("method") == "Page.loadEventFired" for each in self.told):
            self.told.append(self._hear(until))
        self.settle()

    def leave(self) -> None:
        """Leave the page: one that moves takes time from whatever else is tested."""
        self.ask("Page.navigate", url="about:blank")

    def settle(self) -> None:
        """Wait for the next two frames."""
        self.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def value(self, expression: str) -> Any:
        """Return what an expression is in the page."""
        answer = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def wait_for(self, expression: str) -> Any:
        """Return what an expression is in the page as soon as it is something."""
        until = time.monotonic() + self.patience
        while not (found := self.value(expression)):
            if time.monotonic() > until:
                shown = self.value("document.body.innerText")
                raise AssertionError(f"the page never shows {expression}, but\n{shown}")
            time.sleep(0.05)
        return found

    def click(self, selector: str) -> None:
        """Click with the mouse in the middle of what a selector finds first."""
        self.settle()  # what is not drawn yet is not hit
        x, y = self.value(
            f"(() => {{ const r = document.querySelector({json.dumps(selector)}).getBoundingClientRect();"
            " return [r.x + r.width / 2, r.y + r.height / 2] })()"
        )
        self.mouse("mousePressed", x, y)
        self.mouse("mouseReleased", x, y)
        self.settle()

    def mouse(self, kind: str, x: float, y: float, **more: object) -> None:
        """Let the mouse do something at a point."""
        self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1, **more)

    def key(self, key: str) -> None:
        """Press a key and let it go; one character is typed."""
        text = {"text": key} if len(key) == 1 else {"text": "\r"} if key == "Enter" else {}
        self.ask("Input.dispatchKeyEvent", type="keyDown", key=key, code=key, **text)
        self.ask("Input.dispatchKeyEvent", type="keyUp", key=key, code=key)
        self.settle()

    def write(self, text: str) -> None:
        """Type a text where the cursor is."""
        self.ask("Input.insertText", text=text)
        self.settle()

    def picture(self) -> bytes:
        """Return what is seen, as PNG."""
        return base64.b64decode(self.ask("Page.captureScreenshot", format="png")["data"])

    def requests(self) -> list[str]:
        """Return what the page has asked for since it was opened, itself not counted."""
        sent = [each["params"]["request"]["url"] for each in self.told if each["method"] == "Network.requestWillBeSent"]
        return [url for url in sent[1:] if not url.startswith("data:")]

    def complaints(self) -> list[str]:
        """Return what stands in the console: errors, warnings, and refusals of the content security policy."""
        logged = [str(each["params"]["entry"]["text"]) for each in self.told if each["method"] == "Log.entryAdded"]
        said = [str(each["params"]) for each in self.told if each["method"] == "Runtime.consoleAPICalled"]
        thrown = [str(each["params"]) for each in self.told if each["method"] == "Runtime.exceptionThrown"]
        return logged + said + thrown
