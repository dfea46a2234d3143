"""`hbmview.show(logdir)`: the page where the reader is.

    Colab       a frame by google.colab.output         (the kernel's port, through Colab's own proxy)
    a notebook  a frame that finds its way by itself   (_frame: JupyterLab, Notebook, VS Code)
    a terminal  the address; a script waits there until Ctrl-C

A server lasts as long as the kernel, and one log directory has one, however often its cell is run.
"""

from __future__ import annotations

import os
import sys
import urllib.parse
from typing import Any, Dict, Optional, Tuple

from ._frame import ANCESTORS, frame_of
from ._run import PathLike
from ._server import Server

# Colab shows a port of the kernel under a name of its own, inside a frame of a frame.
_COLAB = {
    "allow_host": "*.googleusercontent.com",
    "frame_ancestors": "'self' https://colab.research.google.com https://*.googleusercontent.com",
}

_kept: Dict[Tuple[str, ...], Server] = {}


def show(
    logdir: Optional[PathLike] = None,
    height: int = 720,
    *,
    session: Optional[str] = None,
    tool: Optional[str] = None,
    host: Optional[str] = None,
    module: Optional[str] = None,
    block: Optional[bool] = None,
    **options: Any,
) -> None:
    """Shows the page of `logdir` in the notebook's cell, `height` pixels high; elsewhere it prints the address.

    `session`, `tool` ("memory_viewer", "memory_profile", ...), `host` and `module` say what to open; further options
    are the server's flags. `block`: whether to wait for Ctrl-C where the address is printed; a script does, because the
    server ends with it.
    """
    query = _query(run=session, tag=tool, host=host, module_name=module)
    if "google.colab" in sys.modules:
        _in_colab(_served(logdir, {**_COLAB, **options}), query, height)
        return
    shell = _shell()
    if hasattr(shell, "kernel"):
        from IPython.display import display

        server = _served(logdir, {"frame_ancestors": ANCESTORS, "behind_proxy": True, **options})
        display(frame_of(server, query + _token(server, query), height), raw=True)
        return
    server = _served(logdir, options)
    is_script = shell is None and not (hasattr(sys, "ps1") or sys.flags.interactive)
    _in_terminal(server, query, is_script if block is None else block)


def _query(**members: Optional[str]) -> str:
    asked = {name: value for name, value in members.items() if value is not None}
    return "?" + urllib.parse.urlencode(asked) if asked else ""


def _token(server: Server, query: str) -> str:
    return f"{'&' if query else '?'}token={server.token}" if server.token else ""


def _served(logdir: Optional[PathLike], options: Dict[str, Any]) -> Server:
    place = None if logdir is None else os.fspath(logdir)
    key = (os.path.abspath(place) if place and "://" not in place else str(place), repr(sorted(options.items())))
    server = _kept.setdefault(key, Server(place, **options))
    return server.start()


def _shell() -> Any:
    """IPython's shell, where there is one; IPython is not imported for it."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython else None


def _in_colab(server: Server, query: str, height: int) -> None:
    from google.colab import output

    output.serve_kernel_port_as_iframe(server.port, path="/" + query + _token(server, query), height=str(height))


def _in_terminal(server: Server, query: str, waits: bool) -> None:
    address = server.url.split("?")[0] + query + _token(server, query)
    said = f"hbmview: {server.logdir or 'a built-in sample'} at {address}"
    if not waits:
        print(said)
        return
    try:
        print(said, "until Ctrl-C", flush=True)
        server.wait()
    except KeyboardInterrupt:
        server.stop()
