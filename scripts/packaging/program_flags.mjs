// What the program says of itself:
//
//     {version, commands: [{name: "report", title, help, word: "PATH", flags: [
//         {name: "by", kind: "choice", choices: ["source", ...], value: "KEY", text: "who holds it: ..."}]}]}
//
// The server, which has no command's name, stands first, as "serve". A `text` is one line, in the words of --help.
import { execFileSync } from "node:child_process";

const FLAG_LINE = /^ {2}--([a-z_-]+)(?: ([A-Z][A-Z|]*))?(?: {2,}(.*)| (.*))?$/;
const OF_SEVERAL = /^ {2}(--[a-z_-]+(?:, --[a-z_-]+)+)$/; // "  --version, --help"
const MORE = /^ {17,}(\S.*)$/;
const OF_THEMSELVES = { help: "say what there is to ask for", version: "tell the version" };

/** name -> {value, text}, of a help text's lines that begin with a flag; the first one that says something counts. */
export function describedFlags(help) {
  const found = new Map();
  let last = null;
  const note = (name, value, text) => {
    last = { value: value ?? "", text: text ?? "" };
    if (!found.get(name)?.text) found.set(name, last);
  };
  for (const line of help.split("\n")) {
    const flag = FLAG_LINE.exec(line), several = OF_SEVERAL.exec(line), more = MORE.exec(line);
    if (flag) note(flag[1], flag[2], flag[3] ?? flag[4]);
    else if (several) for (const name of several[1].split(", ")) note(name.slice(2));
    else if (more && last) last.text = `${last.text} ${more[1]}`.trim();
    else last = null;
  }
  return found;
}

/** A flag that changes the whole answer is told in a paragraph of its own: "With --trend, one program over all ...". */
function inProse(help, name) {
  const told = new RegExp(`^With --${name}(?: [a-z_]+)?, ([^:.;]+)`, "m").exec(help);
  return told && { value: "", text: told[1].replace(/\s+/g, " ") };
}

function describe(command, help) {
  const described = describedFlags(help);
  for (const flag of command.flags) {
    const said = described.get(flag.name) ?? inProse(help, flag.name);
    if (!said) throw new Error(`hbmview ${command.name} --help does not say what --${flag.name} does`);
    Object.assign(flag, said, { text: said.text || OF_THEMSELVES[flag.name] || "" });
  }
  return { ...command, help, title: help.slice(0, help.search(/\n\n/)).replace(/\n/g, " ").replace(/^[^:]*: /, "") };
}

/** The commands of `hbmview --list_flags` (server/flags.h has its form). */
export function parseListing(listing) {
  const commands = [];
  for (const [what, name, kind, choices] of listing.trim().split("\n").map((line) => line.split("\t"))) {
    if (what === "command") commands.push({ name, word: "", flags: [] });
    else if (what === "word") commands.at(-1).word = name;
    else commands.at(-1).flags.push({ name, kind, choices: choices ? choices.split(" ") : [] });
  }
  return commands;
}

export function readProgram(program) {
  const ask = (...words) => execFileSync(program, words, { encoding: "utf8", env: { ...process.env, COLUMNS: "80" } });
  const commands = parseListing(ask("--list_flags"));
  return {
    version: ask("--version").trim().replace(/^hbmview /, ""),
    commands: commands.map((command) => describe(command, ask(command.name, "--help"))),
  };
}
