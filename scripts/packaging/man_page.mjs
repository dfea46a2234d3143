// hbmview(1): the program's own --help texts as sections, between words of its own (hbmview.1.roff).
import { readFileSync } from "node:fs";
import path from "node:path";

const FRAME = path.join(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname), "hbmview.1.roff");
const CHANGELOG = path.join(path.dirname(FRAME), "../../CHANGELOG.md");

/** Text as roff writes it: no line of it is a command, dashes stay dashes that can be copied. */
export const plain = (text) =>
  text.replace(/\\/g, "\\e").replace(/-/g, "\\-").replace(/^([.'])/gm, "\\&$1")
    .replace(/~/g, "\\(ti").replace(/\^/g, "\\(ha");

const bold = (text) => `\\fB${plain(text)}\\fR`;
const italic = (text) => `\\fI${plain(text)}\\fR`;

function flagEntry(flag) {
  const value = flag.value || (flag.kind === "switch" ? "" : flag.kind.toUpperCase());
  const choices = flag.choices.length > 0 && !flag.choices.every((name) => flag.text.includes(name));
  const text = choices ? `${flag.text} [${flag.choices.join(", ")}]` : flag.text;
  return `.TP\n${bold(`--${flag.name}`)}${value ? ` ${italic(value)}` : ""}\n${plain(text || "See above.")}\n`;
}

const isExample = (block) => block[0].startsWith("  ") && !block[0].startsWith("  --");

/** What a block of a help text (its lines) is: an example stays as it stands, flags are told in the table's order. */
function section(block) {
  if (isExample(block)) return `.PP\n.nf\n${block.map((line) => plain(line.slice(2))).join("\n")}\n.fi\n`;
  const words = block.filter((line) => !/^ {2,}/.test(line));
  return words.length > 0 ? `.PP\n${plain(words.join("\n"))}\n` : "";
}

function commandSection(command) {
  const blocks = command.help.trimEnd().split(/\n\n/).slice(1).map((block) => block.split("\n"));
  const first = blocks.findIndex((block) => block.some((line) => line.startsWith("  --")) && !isExample(block));
  const before = blocks.slice(0, first).map(section).join(""), after = blocks.slice(first).map(section).join("");
  const name = command.name === "serve" ? "hbmview" : `hbmview ${command.name}`;
  const title = command.name === "serve" ? "serve profiles to a browser" : command.title;
  return `.SS ${plain(name)}: ${plain(title)}\n${before}${command.flags.map(flagEntry).join("")}${after}`;
}

/** The day of a version, as CHANGELOG.md has it. */
export function dayOf(version) {
  const day = new RegExp(`^## ${version.replaceAll(".", "\\.")} \\((\\d{4}-\\d\\d-\\d\\d)\\)$`, "m");
  const found = day.exec(readFileSync(CHANGELOG, "utf8"));
  if (!found) throw new Error(`CHANGELOG.md has no "## ${version} (YYYY-MM-DD)"`);
  return found[1];
}

export function manPage({ version, commands }) {
  const flags = `[${italic("FLAGS")}]`;
  const synopsis = commands.map((command) => command.name === "serve"
    ? `${bold("hbmview")} [${bold("--logdir")}=${italic("PATH")}] [${bold("--port")}=${italic("N")}] ${flags}`
    : `.br\n${bold(`hbmview ${command.name}`)}${command.word ? ` ${italic(command.word)}` : ""} ${flags}`);
  return readFileSync(FRAME, "utf8")
    .replace(/^\.\\".*\n/gm, "")
    .replace("@DAY@", dayOf(version)).replace("@VERSION@", version)
    .replace("@SYNOPSIS@", () => synopsis.join("\n"))
    .replace("@COMMANDS@", () => commands.map(commandSection).join("").trimEnd());
}
