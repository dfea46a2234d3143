// @ts-check
// Starts the page. With early.js, the only module that does something when it is imported.
import { createShell } from "./shell/shell.js";
import { deviceMemory } from "./tools/device_memory/tool.js";
import { memoryProfile } from "./tools/memory_profile/tool.js";
import { memoryViewer } from "./tools/memory_viewer/tool.js";
import { outOfMemory } from "./tools/out_of_memory/tool.js";

createShell([memoryViewer, memoryProfile, deviceMemory, outOfMemory]).start();
