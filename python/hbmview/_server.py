"""The page, as long as somebody holds it: `with hbmview.Server(logdir) as server: ... server.url`.

    this Python ──stdin, a pipe──> hbmview --logdir=... --port=0 --exit_with_stdin
         url <──────stdout───────  hbmview is ready: http://localhost:43117/

The pipe is what ends the program for sure: the system closes it however this Python ends, kill -9 included. The port is
one that was free, and what is printed is printed when the program answers there.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
import urllib.parse
import weakref
from typing import IO, Any, Callable, List, Optional

from ._binary import find
from ._run import Answer, HbmviewError, PathLike, complaint_of, failure, flags

_READY = "hbmview is ready: "
_STOP_S = 10.0  # the program itself ends after 3, whatever it does


class Server:
    """Serves `logdir` (None: a built-in sample) on a free port of this machine; options are the program's flags.

        with hbmview.Server("/tmp/xprof") as server:
            webbrowser.open(server.url)

    `start` and `stop` do without the block. Raises what the program says: ReadError where the log directory cannot be
    read, UsageError for a flag that it does not have. A server that nobody holds any more ends.
    """

    def __init__(self, logdir: Optional[PathLike] = None, *, start_timeout: float = 60.0, **options: Any) -> None:
        self.logdir = None if logdir is None else os.fspath(logdir)
        self.start_timeout = start_timeout
        self.url = ""  # of the page, with the token where there is one; of a socket file "unix:PATH"
        self._options = options
        self._process: Optional[subprocess.Popen[str]] = None
        self._end: Callable[[], object] = lambda: None  # ends the process

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> Optional[int]:
        """Of the program, while it runs."""
        return self._process.pid if self._process and self.is_running else None

    @property
    def port(self) -> Optional[int]:
        """Where it listens on this machine; None before the start, and of a socket file."""
        return urllib.parse.urlsplit(self.url).port if self.url.startswith("http") else None

    @property
    def token(self) -> Optional[str]:
        """What the address carries for others; None where whoever is on this machine may read."""
        found = urllib.parse.parse_qs(urllib.parse.urlsplit(self.url).query).get("token")
        return found[0] if found else None

    def address(self, path: str = "", **query: Any) -> str:
        """Of something of the server's, with the token: server.address("api/v1/modules", session="a")."""
        base = urllib.parse.urlsplit(self.url)
        asked = {name: value for name, value in query.items() if value is not None}
        if self.token:
            asked["token"] = self.token
        return urllib.parse.urlunsplit((base.scheme, base.netloc, "/" + path, urllib.parse.urlencode(asked), ""))

    def start(self) -> Server:
        """Returns when the program answers; what runs already stays."""
        if self.is_running:
            return self
        command = [find(), *self._arguments()]
        complaints = None if self._options.get("verbose") else tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=complaints, text=True, errors="replace"
        )
        self._end = weakref.finalize(self, _end, self._process, complaints)
        self.url = self._told(self._process, complaints)
        return self

    def stop(self) -> None:
        """Returns when the program has ended."""
        self._end()
        self._process, self.url = None, ""

    def wait(self) -> None:
        """Returns when the program has ended by itself, or was stopped elsewhere."""
        if self._process:
            self._process.wait()

    def _arguments(self) -> List[str]:
        options = {"port": None if "unix_socket" in self._options else 0, **self._options}
        return flags(logdir=self.logdir, exit_with_stdin=True, **options)

    def _told(self, process: subprocess.Popen[str], complaints: Optional[IO[bytes]]) -> str:
        """The address that the program prints when it is ready. A program that ends before has said why."""
        assert process.stdout is not None
        late = threading.Timer(self.start_timeout, process.kill)
        late.start()
        line = process.stdout.readline()
        late.cancel()
        if line.startswith(_READY):
            return line[len(_READY):].strip()
        process.wait()
        error = self._failure(process, complaints)
        self.stop()
        raise error

    def _failure(self, process: subprocess.Popen[str], complaints: Optional[IO[bytes]]) -> HbmviewError:
        said = ""
        if complaints:
            complaints.seek(0)
            said = complaint_of(complaints.read())
        if process.returncode < 0 and not said:
            said = f"the server was not ready within {self.start_timeout:g} s (start_timeout)"
        return failure(Answer([find(), *self._arguments()], process.returncode, b"", said))

    def __enter__(self) -> Server:
        return self.start()

    def __exit__(self, *raised: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        state = self.url if self.is_running else "not running"
        return f"<hbmview.Server of {self.logdir or 'a built-in sample'}: {state}>"


def _end(process: subprocess.Popen[str], complaints: Optional[IO[bytes]]) -> None:
    for pipe in process.stdin, process.stdout:
        if pipe:
            pipe.close()
    try:
        process.wait(_STOP_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if complaints:
        complaints.close()
