"""The page in a frame of a notebook's cell: which address reaches it is found out where it is looked at.

    through jupyter-server-proxy   BASE/proxy/PORT/           where the notebook's server has it
    directly                       http://localhost:PORT/     where the reader sits at the machine, and in VS Code
    not at all                     what to do about it        the kernel is elsewhere, or has ended

The kernel cannot know: the same notebook is open in several browsers. Without scripts (a notebook that is not trusted,
one on a web site) there is the link.
"""

from __future__ import annotations

import html
import json
import re
import uuid
from typing import Dict

from ._server import Server

# Who may show the page in a frame: notebooks of the same address (by a proxy), of this machine, and VS Code.
ANCESTORS = (
    "'self' http://localhost:* http://127.0.0.1:* https://localhost:* vscode-webview: vscode-file: "
    "https://*.vscode-cdn.net"
)

_HTML = """\
<div id="@ID@"><p><a href="@URL@" target="_blank" rel="noopener">@TITLE@</a> <span role="status"></span></p>
<iframe title="@TITLE@" width="100%" height="@HEIGHT@" allow="clipboard-write; fullscreen" hidden
  style="border: 1px solid #8884; border-radius: 4px"></iframe></div>
<script>(@SCRIPT@)(@FACTS@)</script>
"""

_SCRIPT = """\
async ({ id, port, query, direct }) => {
  const box = document.getElementById(id);
  const [link, said, frame] = ["a", "span", "iframe"].map((one) => box.querySelector(one));
  const answers = async (root, options) => {
    try {
      const reply = await fetch(root + "healthz", options);
      return reply.type === "opaque" || (reply.ok && (await reply.text()) === "ok\\n");
    } catch {
      return false;
    }
  };
  const config = document.getElementById("jupyter-config-data");
  const base = config ? JSON.parse(config.textContent).baseUrl : document.body.dataset.baseUrl;
  const isNear =
    ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname) || location.protocol === "vscode-webview:";
  const proxied = base && `${base}proxy/${port}/`;
  let root = proxied && (await answers(proxied)) ? proxied : "";
  if (!root && isNear && (await answers(direct, { mode: "no-cors" }))) root = direct;
  if (root) {
    link.href = frame.src = root + query;
    frame.hidden = false;
  } else {
    said.textContent =
      "cannot be reached from here. Has the kernel been restarted? Then run the cell again. Else install jupyter-" +
      `server-proxy beside the notebook's server, or forward the port: ssh -L ${port}:localhost:${port} MACHINE`;
  }
}"""


def frame_of(server: Server, path_and_query: str, height: int) -> Dict[str, str]:
    """What a notebook shows, by MIME type."""
    title = f"hbmview: {server.logdir or 'a built-in sample'}"
    root = f"http://localhost:{server.port}/"
    name = f"hbmview-{uuid.uuid4().hex[:8]}"
    facts = {"id": name, "port": server.port, "query": path_and_query, "direct": root}
    told = {
        "ID": name, "URL": html.escape(root + path_and_query), "TITLE": html.escape(title), "HEIGHT": str(int(height)),
        "SCRIPT": _SCRIPT, "FACTS": json.dumps(facts).replace("<", "\\u003c"),
    }
    filled = re.sub("@([A-Z]+)@", lambda found: told[found[1]], _HTML)
    return {"text/plain": f"{title} at {root}{path_and_query}", "text/html": filled}
