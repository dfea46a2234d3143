// @ts-check
// Starts the page. With ask_ahead.js, which comes first, the only module that does something when it is imported.
import "./ask_ahead.js";
import { createShell } from "./shell/shell.js";
import { TOOLS } from "./tools.js";

createShell(TOOLS).start();
