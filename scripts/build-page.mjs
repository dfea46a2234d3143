// Makes the page that is delivered out of web/: few files that never change, because a change gives them another name.
//
//     node scripts/build-page.mjs web build/gen/page
//
//     web/index.html           -> index.html, which names the files below, relative to itself
//     web/js/main.js and on    -> assets/main-HASH.js, a script for each tool, for what they share, for pictures
//     its style sheets         -> assets/main-HASH.css
//     other files of web/      -> assets/NAME-HASH.EXT
//     all of it, for a file    -> saved.html: one page with its script and styles inside, whose data the program puts
//                                 where SAVED_DATA stands (server/saving/saved_page.h)
//
// The output depends on the sources alone. The page in web/ works as it is, too: hbmview --web_dir=web.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { build } from "esbuild";

const [web, out] = process.argv.slice(2);
const UPLOT = path.resolve("node_modules/uplot");
const FIRST_TOOL = "js/tools/memory_viewer/tool.js"; // opens when the address names none: preloaded

/** /vendor/* as the server gives it to the page in web/; uPlot's notice stays in the script. */
const vendor = {
  name: "vendor",
  setup(esbuild) {
    esbuild.onResolve({ filter: /^\// }, ({ path: address }) =>
      address.startsWith("/vendor/")
        ? { path: `${UPLOT}/dist/${address === "/vendor/uplot.js" ? "uPlot.esm.js" : "uPlot.min.css"}` }
        : { path: path.resolve(web, `.${address}`) },
    );
    esbuild.onLoad({ filter: /uPlot\.esm\.js$/ }, ({ path: file }) => ({
      contents: readFileSync(file, "utf8").replace(/^\/\*\*/, "/*!"),
    }));
  },
};

const settings = {
  bundle: true,
  minify: true,
  metafile: true,
  logLevel: "warning",
  outdir: path.join(out, "assets"),
};

/** Lets every entry lead to all of `modules`: esbuild puts what is reached alike into one script. */
const leadingTo = (modules) => ({
  name: "leading to the same",
  setup(esbuild) {
    const imports = modules.map((one) => `import "/${path.relative(web, one)}";`).join("\n");
    esbuild.onLoad({ filter: /\/(main|tool|save_picture)\.js$/ }, ({ path: file }) => ({
      contents: `${readFileSync(file, "utf8")}\n${imports}`,
    }));
  },
});

function buildScripts(plugins, options) {
  return build({
    ...settings,
    ...options,
    plugins: [vendor, ...plugins],
    entryPoints: [path.join(web, "js/main.js")],
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    format: "esm",
    splitting: true,
    target: "es2022",
  });
}

/** One script for all that tools share, instead of one for each set of tools that share it. */
async function buildFewScripts() {
  const { metafile } = await buildScripts([], { write: false });
  const chunks = Object.values(metafile.outputs).filter((output) => !output.entryPoint);
  return buildScripts([leadingTo(chunks.flatMap((chunk) => Object.keys(chunk.inputs)))], {});
}

function buildStyles(addresses) {
  const contents = addresses.map((address) => `@import "${address}";`).join("\n");
  const stdin = { contents, loader: /** @type {const} */ ("css"), resolveDir: "." };
  return build({ ...settings, plugins: [vendor], stdin, entryNames: "main-[hash]" });
}

/** The output whose source is `source`, and all it leads to by static imports. */
function reached({ outputs }, source) {
  const first = Object.keys(outputs).find((name) => outputs[name].entryPoint === path.join(web, source));
  const found = new Set([first]);
  for (const name of found) {
    for (const one of outputs[name].imports) if (one.kind === "import-statement") found.add(one.path);
  }
  return [...found];
}

const toAddress = (file) => `./${path.relative(out, file)}`;

function copyHashed(name) {
  const content = readFileSync(path.join(web, name));
  const { name: base, ext } = path.parse(name);
  const hash = createHash("sha256").update(content).digest("hex").slice(0, 8).toUpperCase();
  writeFileSync(path.join(out, "assets", `${base}-${hash}${ext}`), content);
  return `./assets/${base}-${hash}${ext}`;
}

// --- The saved page ---

const inlineHash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** Nothing in a script or a style may end its element. */
const insideElement = (text) => text.replaceAll(/<(?=\/(script|style)|!--|script)/gi, "\\x3c");

/** The output of one entry, as text: tools are not fetched later, so everything is in one script. */
async function textOf(options) {
  const { outputFiles } = await build({ ...settings, ...options, write: false, metafile: false, plugins: [vendor] });
  return insideElement(outputFiles[0].text.trim());
}

/** The policy allows what stands here and nothing else: no other script, nothing from anywhere. */
async function buildSavedPage(source, addresses) {
  const script = await textOf({
    entryPoints: [path.join(web, "js/saved/main.js")],
    format: "esm",
    target: "es2022",
    define: { "import.meta.url": "document.baseURI" },
  });
  const contents = addresses.map((address) => `@import "${address}";`).join("\n");
  const style = await textOf({ stdin: { contents, loader: "css", resolveDir: "." } });
  const policy = [
    "default-src 'none'",
    `script-src ${inlineHash(script)}`,
    `style-src ${inlineHash(style)}`,
    "img-src data: blob:",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  const meta = `<meta http-equiv="Content-Security-Policy" content="${policy}" />`;
  const page = source
    .replace(/ *<link rel="(stylesheet|icon)".*\n/g, "")
    .replace(/ *<script type="module".*<\/script>\n/, "")
    .replace(/(<meta charset.*>\n)/, (line) => `${line}    ${meta}\n`)
    .replace("</head>", () => `<style>${style}</style>\n  </head>`)
    .replace('<a href="/" class="brand-name">hbmview</a>', '<span class="brand-name">hbmview</span>')
    .replace("</body>", () => `<!--SAVED_DATA-->\n<script type="module">${script}</script>\n  </body>`);
  if (/(href|src)="\//.test(page.replace(script, ""))) throw new Error("saved.html names a file");
  writeFileSync(path.join(out, "saved.html"), page);
}

async function buildPage() {
  rmSync(out, { recursive: true, force: true });
  mkdirSync(path.join(out, "assets"), { recursive: true });
  const source = readFileSync(path.join(web, "index.html"), "utf8");
  const styles = [...source.matchAll(/<link rel="stylesheet" href="([^"]+)"/g)].map(([, address]) => address);
  const scripts = await buildFewScripts();
  const [style] = Object.keys((await buildStyles(styles)).metafile.outputs);
  const [main, ...preloaded] = new Set([
    ...reached(scripts.metafile, "js/main.js"),
    ...reached(scripts.metafile, FIRST_TOOL),
  ]);
  const links = [
    `<link rel="stylesheet" href="${toAddress(style)}" />`,
    `<script type="module" blocking="render" src="${toAddress(main)}"></script>`,
    ...preloaded.map((file) => `<link rel="modulepreload" href="${toAddress(file)}" />`),
  ];
  const page = source
    .replace(/ *<link rel="stylesheet".*\n/g, "")
    .replace(/<script type="module".*<\/script>/, links.join("\n    "))
    .replace("/favicon.svg", copyHashed("favicon.svg"))
    .replaceAll('href="/"', 'href="./"');
  if (/(href|src)="\//.test(page)) throw new Error("web/index.html names something that is not built");
  writeFileSync(path.join(out, "index.html"), page);
  await buildSavedPage(source, styles);
  writeFileSync(path.join(out, "uPlot-LICENSE.txt"), readFileSync(path.join(UPLOT, "LICENSE")));
}

await buildPage();
