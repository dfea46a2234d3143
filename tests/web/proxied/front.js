// What stands between a reader and the program: nginx with TLS under a path, a notebook server, a tunnel.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, chmodSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const LOCATIONS = fileURLToPath(new URL("../../proxy/prefix.conf", import.meta.url));
const START_LIMIT_MS = 60000;
const STOP_LIMIT_MS = 5000;
const LOOK_MS = 50;

export function newFolder() {
  const folder = mkdtempSync(path.join(tmpdir(), "hbmview-front-"));
  chmodSync(folder, 0o755);
  return folder;
}

/** A port that nobody listens on now. */
export async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const answers = (port) =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => resolve(true) || socket.destroy());
    socket.on("error", () => resolve(false));
  });

/**
 * Starts a program that listens on `port` of this machine.
 * The way to stop it asks, then insists: jupyter-server-proxy ends a notebook's server by an exception in a signal's
 * handler, which is lost when a request is being answered, and a server left would keep the tests from ever ending.
 */
export async function started(command, args, port, folder, environment = {}) {
  const env = { ...ownFolders(folder), ...environment };
  const child = spawn(command, args, { cwd: folder, stdio: ["ignore", "pipe", "pipe"], env });
  let said = "";
  let failed = false;
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (said += chunk));
  child.on("error", (error) => {
    failed = true;
    said += error;
  });
  const end = Date.now() + START_LIMIT_MS;
  while (!(await answers(port))) {
    if (failed || child.exitCode !== null || Date.now() > end) {
      child.kill("SIGKILL");
      throw new Error(`${command} does not start: ${said}`);
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  const ended = new Promise((resolve) => child.on("exit", resolve));
  return async () => {
    child.kill();
    const insisting = setTimeout(() => child.kill("SIGKILL"), STOP_LIMIT_MS);
    await ended;
    clearTimeout(insisting);
    for (const stream of [child.stdout, child.stderr]) stream.destroy(); // a kernel left behind may hold the other end
    rmSync(folder, { recursive: true, force: true });
  };
}

const ownFolders = (folder) => ({
  ...process.env,
  HOME: folder,
  JUPYTER_CONFIG_DIR: folder,
  JUPYTER_RUNTIME_DIR: folder,
  JUPYTER_DATA_DIR: folder,
  XDG_DATA_HOME: folder,
});

/** https://127.0.0.1:PORT/tools/hbm/ */
export async function startNginx(server) {
  const folder = newFolder();
  const port = await freePort();
  const [key, certificate] = [path.join(folder, "key.pem"), path.join(folder, "certificate.pem")];
  const made = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"];
  execFileSync("openssl", [...made, "-keyout", key, "-out", certificate], { stdio: "ignore" });
  const locations = readFileSync(LOCATIONS, "utf8").replaceAll("@SERVER@", new URL(server.url).host);
  const kinds = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  const temporary = kinds.map((one) => `${one}_temp_path ${folder}/${one};`);
  writeFileSync(
    path.join(folder, "nginx.conf"),
    `daemon off; pid ${folder}/pid; error_log ${folder}/error.log;
    events {}
    http {
      access_log off; ${temporary.join(" ")}
      server {
        listen 127.0.0.1:${port} ssl; ssl_certificate ${certificate}; ssl_certificate_key ${key};
        ${locations}
      }
    }`,
  );
  const stop = await started("/usr/sbin/nginx", ["-p", folder, "-c", path.join(folder, "nginx.conf")], port, folder);
  return { url: `https://127.0.0.1:${port}/tools/hbm/`, stop };
}

/** http://NAME:PORT/proxy/6006/, by jupyter-server-proxy of $PYTHON. */
export async function startNotebook(server, name) {
  const folder = newFolder();
  const port = await freePort();
  const settings = ["ServerApp.ip=127.0.0.1", `ServerApp.port=${port}`, "ServerApp.port_retries=0"];
  settings.push("ServerApp.open_browser=False", "ServerApp.allow_remote_access=True", "ServerApp.allow_root=True");
  settings.push("IdentityProvider.token=", `ServerApp.root_dir=${folder}`);
  const args = ["-m", "jupyter_server", ...settings.map((one) => `--${one}`)];
  const stop = await started(process.env.PYTHON, args, port, folder);
  return { url: `http://${name}:${port}/proxy/${new URL(server.url).port}/`, stop };
}

/** Hands on bytes under another name, as a tunnel does. */
export async function startTunnel(server, name) {
  const { port } = new URL(server.url);
  const tunnel = createServer((from) => {
    const to = connect(Number(port), "127.0.0.1");
    for (const one of [from, to]) one.on("error", () => from.destroy() && to.destroy());
    from.pipe(to).pipe(from);
  });
  await new Promise((resolve) => tunnel.listen(0, "127.0.0.1", resolve));
  return { url: `http://${name}:${tunnel.address().port}/`, stop: () => tunnel.close() };
}
