// @ts-check
// Starts the page. With early.js, which comes first, the only module that does something when it is imported.
import "./early.js";
import { createShell } from "./shell/shell.js";
import { TOOLS } from "./tools.js";

createShell(TOOLS).start();
