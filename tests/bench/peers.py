"""The servers that scripts/bench-xprof measures side by side, each with a log directory of its own, where it may write.

    hbmview    this program
    XProf      PyPI's xprof, in $XPROF_VENV or build/venv-xprof
    xprof-rs   PyPI's xprof-rs, in $XPROF_RS_VENV or build/venv-xprof-rs: XProf's pages, written anew in Rust
"""
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time

import timed_server
import venvs
from timed_server import TimedServer

BUILD = timed_server.REPO / "build"
LOGDIRS = BUILD / "bench-logdirs"
XPROF_RS_VERSION = "0.1.3"


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def is_open(port):
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
        return True
    except OSError:
        return False


class Peer:
    """`prepares`: it opens a module only after its session's modules were listed."""
    prepares = False

    def __init__(self, name, version):
        self.name, self.version = name, version
        self.logdir = LOGDIRS / name
        self.log = tempfile.TemporaryFile()

    def add_session(self, session, file):
        timed_server.link_or_copy(file, self.logdir / "plugins" / "profile" / session / file.name)

    def forget(self):
        """Removes what it wrote beside the profiles."""
        for file in self.logdir.rglob("*"):
            if file.is_file() and not file.name.endswith(".xplane.pb"):
                file.unlink()


class Hbmview(Peer):
    def __init__(self):
        super().__init__("hbmview", "")

    def start(self):
        return timed_server.hbmview(self.logdir)


class Installed(Peer):
    prepares = True

    def __init__(self, name, variable, package):
        self.python = venvs.python(variable, BUILD / f"venv-{name.lower()}", [package])
        ask = f"import importlib.metadata as m; print(m.version({package.partition('==')[0]!r}))"
        printed = subprocess.run([self.python, "-c", ask], check=True, text=True, stdout=subprocess.PIPE).stdout
        super().__init__(name, printed.strip())

    def start(self):
        port = free_port()
        program = pathlib.Path(self.python).parent / self.name.lower()
        options = [f"--logdir={self.logdir}", f"--port={port}", f"--grpc_port={free_port()}"]
        server = TimedServer([program, *options], self.log)
        while not is_open(port):
            if server.process.poll() is not None or time.perf_counter() - server.started > timed_server.START_SECONDS:
                raise SystemExit(f"{self.name} does not start")
            time.sleep(0.05)
        return server.is_listening_on(port)


def all_peers(files):
    """The three, each with the sessions of `files` (name -> *.xplane.pb)."""
    shutil.rmtree(LOGDIRS, ignore_errors=True)
    peers = [Hbmview(), Installed("XProf", "XPROF_VENV", "xprof"),
             Installed("xprof-rs", "XPROF_RS_VENV", f"xprof-rs=={XPROF_RS_VERSION}")]
    for session, file in files.items():
        timed_server.read_through(file)
        for peer in peers:
            peer.add_session(session, file)
    return peers
