// @ts-check
// Starts a saved page: the shell with the tools that it holds something for.
import "./begin.js";
import "../ask_ahead.js";
import { createShell } from "../shell/shell.js";
import { TOOLS } from "../tools.js";
import { readSaved } from "./answers.js";

const saved = readSaved();
createShell(
  TOOLS.filter((tool) => saved.tools.includes(tool.id)),
  saved,
).start();
