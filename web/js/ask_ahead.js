// @ts-check
// Asks for what the address names, and for the tool's code, before the page is put together. The first module of
// main.js, and small on purpose.
import { addressQuery } from "./base/address.js";
import { apiUrl, askEarly, endEarly, memoryGroupsUrl, memoryOverviewUrl, memoryProfileUrl } from "./early.js";
import { findTool, TOOLS } from "./tools.js";

/** What an early answer says; null when it failed. */
async function look(asked) {
  const answer = await asked?.catch(() => null);
  return answer?.ok ? answer.body : null;
}

/** The one module that the page will open, as far as that is certain before its figures are known. */
async function moduleToOpen(address, modules) {
  const named = address.get("module_name") ?? address.get("moduleName");
  if (named) return named.includes("(") ? named : null; // without its program id: the list of modules decides
  const listed = (await look(modules))?.modules ?? [];
  return listed.length === 1 ? listed[0].name : null;
}

async function askAhead(address) {
  const tool = findTool(TOOLS, address.get("tag") ?? address.get("tool")) ?? TOOLS[0];
  tool.load().catch(() => null); // whoever mounts it says why
  const sessions = askEarly(apiUrl("sessions"));
  const session = address.get("run") ?? (await look(sessions))?.sessions?.[0]?.name;
  if (!session) return;
  if (tool.anywhere) return;
  if (tool.id === "memory_profile") return void askEarly(memoryProfileUrl("", { session }));
  const module = await moduleToOpen(address, askEarly(apiUrl("modules", { session })));
  if (!module) return;
  const where = { session, module, host: address.get("host"), space: address.get("memory_space") };
  askEarly(memoryOverviewUrl(where));
  if (!address.get("step"))
    askEarly(memoryGroupsUrl(where, { by: address.get("by"), step: null, frameworks: address.get("frameworks") }));
}

askAhead(new URLSearchParams(addressQuery())).finally(endEarly);
