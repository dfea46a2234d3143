"""What jupyter-server-proxy asks: how to start the program, which it then serves at NOTEBOOK/hbmview/.

It shows $HBMVIEW_LOGDIR, else the folder that Jupyter was started in. The program listens on a socket file in a folder
of jupyter-server-proxy's, which no other user of the machine can open; {unix_socket} is filled in there.
"""

from __future__ import annotations

import os
from typing import Any, Dict, List

from ._binary import find


def server_proxy() -> Dict[str, Any]:
    """The entry of jupyter_serverproxy_servers."""
    return {
        "command": _command,
        "unix_socket": True,
        "timeout": 20,
        "absolute_url": False,
        "launcher_entry": {"title": "hbmview"},
    }


# Asked for when somebody opens the page: a program that is missing is said there, and stops no other proxy.
def _command() -> List[str]:
    logdir = os.environ.get("HBMVIEW_LOGDIR") or os.getcwd()
    plain = logdir.replace("{", "{{").replace("}", "}}")
    return [find(), f"--logdir={plain}", "--unix_socket={unix_socket}", "--behind_proxy", "--frame_ancestors='self'"]
