// @ts-check
// What a file that is saved from the page is called, and where it is from: session, host, program or memory, as the
// address has them.
import { addressQuery } from "./address.js";
import { parseQuery } from "./url_state.js";

/** @returns {string[]} of what the address names */
export function viewParts() {
  const asked = parseQuery(addressQuery());
  const space = asked.memory_space === null || asked.memory_space === "0" ? null : `memory ${asked.memory_space}`;
  const after = asked.run_b || asked.module_b ? ["to", asked.run_b, asked.module_b] : [];
  const parts = [asked.run, asked.host, asked.module_name, asked.memory_id, asked.file, space, ...after];
  return parts.filter((part) => part !== null);
}
