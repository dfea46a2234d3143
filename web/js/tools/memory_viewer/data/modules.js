// @ts-check
// The modules of a session: their order and the figure they are known by. Pure.

/** Peak in HBM, else in the first space there is; null while it is not known. */
export function peakOf(module) {
  if (module.state !== "ready") return null;
  const space = module.memory_spaces.find((one) => one.space === 0) ?? module.memory_spaces[0];
  return space ? space.peak_bytes : 0;
}

/** Largest first, then by name; those still unknown after the known ones. */
export function sortModules(modules) {
  return [...modules].sort(
    (a, b) => (peakOf(b) ?? -1) - (peakOf(a) ?? -1) || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0),
  );
}

/** XProf's `moduleName` may come without the program id. */
export function findModule(modules, name) {
  return modules.find((one) => one.name === name) ?? modules.find((one) => one.module_name === name) ?? null;
}

export function spacesWithData(spaces) {
  return spaces.filter((one) => sizeOfSpace(one) > 0);
}

/** Its peak; where no simulation tells that, the total; where all is thread-local, that. */
export function sizeOfSpace(space) {
  return space.peak_bytes || space.total_allocation_bytes || (space.thread_local_bytes ?? 0);
}
