// Writes the man page and the shells' completions, as they lie below a PREFIX/share:
//
//     node scripts/packaging/describe.mjs build/hbmview build/share
//
// What flags there are comes from the program's own tables (`hbmview --list_flags`), what they mean from its --help
// texts; a flag that the help does not name is an error here, because nobody could find it.
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { bashCompletion, fishCompletion, zshCompletion } from "./completions.mjs";
import { manPage } from "./man_page.mjs";
import { readProgram } from "./program_flags.mjs";

const [program, out] = process.argv.slice(2);
const facts = readProgram(program);
const files = {
  "man/man1/hbmview.1": manPage(facts),
  "bash-completion/completions/hbmview": bashCompletion(facts),
  "zsh/site-functions/_hbmview": zshCompletion(facts),
  "fish/vendor_completions.d/hbmview.fish": fishCompletion(facts),
};
for (const [name, text] of Object.entries(files)) {
  mkdirSync(path.dirname(path.join(out, name)), { recursive: true });
  writeFileSync(path.join(out, name), text);
}
