// @ts-check
// The modules of a session: their order and the figure they are known by. Pure.
import { fitOf } from "./composition.js";

/** Peak in HBM, else in the first space there is; null while it is not known. */
export function peakOf(module) {
  if (module.state !== "ready") return null;
  const space = module.memory_spaces.find((one) => one.space === 0) ?? module.memory_spaces[0];
  return space ? space.peak_bytes : 0;
}

const FIT_WORDS = { overflow: "over", fragmented: "may fit", fits: "fits" };

/** Whether it has room in a memory space of so many bytes; null where that is not known. */
export function fitOfModule(module, space, capacityBytes) {
  const totals = module.state === "ready" ? module.memory_spaces.find((one) => one.space === space) : undefined;
  if (!totals || capacityBytes === null) return null;
  const { state } = fitOf(totals, capacityBytes);
  return { state, word: FIT_WORDS[state] };
}

/** Largest first, then by name; those still unknown after the known ones. */
export function sortModules(modules) {
  return [...modules].sort(
    (a, b) => (peakOf(b) ?? -1) - (peakOf(a) ?? -1) || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0),
  );
}

/**
 * Modules that the hosts of a pod run as one program, as one entry each, in the order of the list: its largest variant
 * first. The reply numbers them (`family`).
 * @returns {{module: any, variants: any[]}[]}
 */
export function foldModules(modules) {
  const folds = new Map();
  for (const module of modules) {
    const key = module.family ?? module;
    const fold = folds.get(key);
    if (fold) fold.variants.push(module);
    else folds.set(key, { module, variants: [module] });
  }
  return [...folds.values()];
}

const NAMED_HOSTS = 4; // so few are called by name

/** "2 variants: 255 + 1 (host-017)", "256 hosts, same program", or the names of a few hosts. */
export function hostsText(variants) {
  const [first] = variants;
  if (variants.length === 1)
    return first.hosts.length > NAMED_HOSTS ? `${first.hosts.length} hosts, same program` : first.hosts.join(", ");
  const most = Math.max(...variants.map((one) => one.hosts.length));
  const isRare = ({ hosts }) => hosts.length <= 2 && hosts.length < most;
  const parts = [...variants]
    .sort((a, b) => b.hosts.length - a.hosts.length)
    .map((one) => (isRare(one) ? `${one.hosts.length} (${one.hosts.join(", ")})` : one.hosts.length));
  return `${variants.length} variants: ${parts.join(" + ")}`;
}

const keyOf = (module) => JSON.stringify([module.name, module.host]);

/** A reply that tells only what changed since the one before, put into that one. */
export function mergeModules(before, told) {
  if (told.since === undefined || before === null) return told;
  const changed = new Map(told.modules.map((one) => [keyOf(one), one]));
  const modules = before.modules.map((one) => changed.get(keyOf(one)) ?? one);
  return { ...before, version: told.version, complete: told.complete, modules };
}

/** XProf's `moduleName` may come without the program id. Of several with one name that of the host, else the first. */
export function findModule(modules, name, host = null) {
  const named = modules.filter((one) => one.name === name);
  const found = named.length ? named : modules.filter((one) => one.module_name === name);
  const there = host ? found.find((one) => one.hosts.includes(host)) : null;
  return there ?? variantOn(modules, found[0], host) ?? found[0] ?? null;
}

/** The same program as that host has it, which may count it under another id. */
function variantOn(modules, module, host) {
  if (!host || module?.family === undefined) return null;
  return modules.find((one) => one.family === module.family && one.hosts.includes(host)) ?? null;
}

/** The hosts of a session: none where it consists of HLO files, or of a dump, which have a file for each program. */
export function namedHosts(reply) {
  return reply.hosts.filter((host) => host.name && host.name !== host.file);
}

/** What the address says of a module: its host, or its file, only where the name alone would mean another one too. */
export function moduleAddress(reply, module) {
  const isAlone = reply.modules.filter((one) => one.name === module.name).length === 1;
  if (!isAlone) return { module_name: module.name, host: module.host };
  return namedHosts(reply).length ? { module_name: module.name } : { module_name: module.name, host: null };
}

export function spacesWithData(spaces) {
  return spaces.filter((one) => sizeOfSpace(one) > 0);
}

/** Its peak; where no simulation tells that, the total; where all is thread-local, that. */
export function sizeOfSpace(space) {
  return space.peak_bytes || space.total_allocation_bytes || (space.thread_local_bytes ?? 0);
}
