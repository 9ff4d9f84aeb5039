"""Brings a running simulation to browsers of this machine, with what Python has: pages by HTTP, pictures as events."""

from __future__ import annotations

import json
import secrets
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from mbd.errors import MbdError, ModelError

if TYPE_CHECKING:
    from mbd.view.running import Live

MAX_COMMAND = 10_000  # bytes
IDLE = 0.05  # seconds between looks of a thread that has nothing to do


class Server:
    """The simulation in a thread of its own, and a server for its pages; the address holds a secret word."""

    def __init__(self, live: Live, port: int = 0) -> None:
        self.live, self.word = live, secrets.token_urlsafe(12)
        self.condition = threading.Condition()
        self.number, self.text, self.running = 0, "", True
        try:
            self.server = ThreadingHTTPServer(("127.0.0.1", port), _handler(self))
        except OSError as error:
            raise ModelError(f"view: port {port} cannot be opened: {error}; port=0 takes a free one") from None
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/{self.word}/"
        self.publish(live.picture())
        self.threads = [
            threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": IDLE}, daemon=True),
            threading.Thread(target=self._run, daemon=True),
        ]
        for thread in self.threads:
            thread.start()

    def _run(self) -> None:
        """Pictures at an even pace."""
        from mbd.view.running import RATE

        last = time.perf_counter()
        while self.running:
            now = time.perf_counter()
            passed, last = now - last, now
            self.publish(self.live.frame(passed, time.perf_counter))
            time.sleep(max(0.0, 1.0 / RATE - (time.perf_counter() - now)))

    def publish(self, picture: dict[str, Any]) -> None:
        """Let all browsers have a picture; those that are slow leave some out."""
        text = json.dumps(picture, separators=(",", ":"))
        with self.condition:
            self.number, self.text = self.number + 1, text
            self.condition.notify_all()

    def next(self, number: int) -> tuple[int, str]:
        """The first picture after a number."""
        with self.condition:
            while self.number <= number and self.running:
                self.condition.wait(1.0)
            return self.number, self.text

    def stop(self) -> None:
        """End the simulation and the server."""
        self.running = False
        with self.condition:
            self.condition.notify_all()
        self.server.shutdown()
        self.server.server_close()
        for thread in self.threads:
            thread.join(5.0)

    def _repr_html_(self) -> str:
        """The page in a notebook of the same machine."""
        return f'<iframe src="{self.url}" style="width:100%;height:560px;border:0;border-radius:8px"></iframe>'

    def __repr__(self) -> str:
        return f"<live view of {self.live.simulator.model} at {self.url}>"


def _handler(owner: Server) -> type[BaseHTTPRequestHandler]:
    """What answers requests."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _is_known(self) -> bool:
            """Whoever does not know the word, or comes through another name of this machine, gets nothing."""
            host = (self.headers.get("Host") or "").rpartition(":")[0]
            if self.path.startswith(f"/{owner.word}/") and host in ("127.0.0.1", "localhost"):
                return True
            self._answer(404, "not here")
            return False

        def _answer(self, code: int, text: str, kind: str = "text/plain") -> None:
            data = text.encode()
            self.send_response(code)
            self.send_header("Content-Type", f"{kind}; charset=utf-8")
            self.send_header("Content-Length", str(len(data)))
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            self.wfile.write(data)

        def do_GET(self) -> None:
            if not self._is_known():
                return
            if self.path == f"/{owner.word}/":
                with owner.live.lock:
                    text = owner.live.page()
                self._answer(200, text, "text/html")
            elif self.path.endswith("/stream"):
                self._stream()
            else:
                self._answer(404, "not here")

        def _stream(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Cache-Control", "no-store")
            self.send_header("Connection", "close")
            self.end_headers()
            number = 0
            try:
                while owner.running:
                    number, text = owner.next(number)
                    self.wfile.write(f"data: {text}\n\n".encode())
            except OSError:
                pass  # the page was closed
            self.close_connection = True

        def do_POST(self) -> None:
            if not self._is_known():
                return
            length = int(self.headers.get("Content-Length") or 0)
            if not 0 < length <= MAX_COMMAND:
                self._answer(413, "too long")
                return
            try:
                command = json.loads(self.rfile.read(length))
                if not isinstance(command, dict):
                    raise ModelError("view: a command is a table")
                owner.live.do(command)
                owner.publish(owner.live.picture())
            except (ValueError, MbdError) as error:
                self._answer(400, str(error))
                return
            self._answer(200, "done")

        def log_message(self, format: str, *arguments: Any) -> None:
            pass

    return Handler


def is_prompt() -> bool:
    """Whether somebody can go on typing: a notebook or an interactive interpreter."""
    return hasattr(sys, "ps1") or bool(sys.flags.interactive) or "ipykernel" in sys.modules
