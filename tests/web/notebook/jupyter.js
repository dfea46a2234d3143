// A notebook's server of $PYTHON, with a kernel that has the package of this checkout, and one notebook of one cell.
import { writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { LOGDIR } from "../browser/harness.js";
import { freePort, newFolder, started } from "../proxied/front.js";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const PROGRAM = path.resolve(ROOT, process.env.HBMVIEW ?? "build/hbmview");
const BASE = "/user/me/";

export const CELL = `import hbmview\nhbmview.show(${JSON.stringify(LOGDIR)}, height=640, session="v5e_gpt_4layer")`;

const notebook = (source) => ({
  cells: [{ cell_type: "code", id: "one", metadata: {}, execution_count: null, outputs: [], source }],
  metadata: { kernelspec: { name: "python3", display_name: "Python 3", language: "python" } },
  nbformat: 4,
  nbformat_minor: 5,
});

/** As somebody would who has installed the wheel: the launcher's entry is the package's own. */
const settings = (port, folder, hasProxy) => `
c.ServerApp.ip = "127.0.0.1"
c.ServerApp.port = ${port}
c.ServerApp.port_retries = 0
c.ServerApp.base_url = "${BASE}"
c.ServerApp.root_dir = ${JSON.stringify(folder)}
c.ServerApp.open_browser = False
c.ServerApp.allow_remote_access = True
c.ServerApp.allow_root = True
c.ServerApp.jpserver_extensions = {"jupyter_server_proxy": ${hasProxy ? "True" : "False"}}
c.IdentityProvider.token = ""
from hbmview._jupyter import server_proxy
c.ServerProxy.servers = {"hbmview": server_proxy()}
`;

/**
 * @param {"jupyterlab" | "notebook"} kind
 * @returns {Promise<{url: string, opened: string, stop: () => Promise<void>}>} `opened` shows the notebook
 */
export async function startJupyter(kind, { hasProxy = true, name = "localhost", cell = CELL } = {}) {
  const folder = newFolder();
  const port = await freePort();
  writeFileSync(path.join(folder, "one.ipynb"), JSON.stringify(notebook(cell)));
  const file = path.join(folder, "settings.py");
  writeFileSync(file, settings(port, folder, hasProxy));
  const environment = { HBMVIEW: PROGRAM, PYTHONPATH: path.join(ROOT, "python"), HBMVIEW_LOGDIR: LOGDIR };
  const stop = await started(process.env.PYTHON, ["-m", kind, `--config=${file}`], port, folder, environment);
  const url = `http://${name}:${port}${BASE}`;
  return { url, opened: `${url}${kind === "notebook" ? "notebooks" : "lab/tree"}/one.ipynb`, stop };
}
