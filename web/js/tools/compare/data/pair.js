// @ts-check
/**
 * Which two programs are compared, as the address has it: run, module_name, host for the one before; run_b, module_b,
 * host_b for the one after, each as before where it is absent. Pure.
 */

/** The name without its number: "jit_f" of "jit_f(1)". */
const moduleOf = (name) => name.replace(/\(\d+\)$/, "");

/** Of two programs the largest first. @param {any[]} modules of a reply */
export function largestFirst(modules) {
  const peak = ({ memory_spaces: spaces = [] }) =>
    (spaces.find(({ space }) => space === 0) ?? spaces[0])?.peak_bytes ?? -1;
  return [...modules].sort((a, b) => peak(b) - peak(a) || (a.name < b.name ? -1 : 1));
}

/** The module that is meant: the one named, else one called like `like`, else the largest. Null where there is none. */
export function chooseModule(modules, name, like = null) {
  const sorted = largestFirst(modules);
  if (name !== null) return sorted.find((one) => one.name === name) ?? null;
  const called = (nameOf) => (like === null ? null : sorted.find((one) => nameOf(one.name) === nameOf(like)));
  return called((whole) => whole) ?? called(moduleOf) ?? sorted[0] ?? null;
}

function sharedLetters(a, b) {
  let count = 0;
  while (count < a.length && a[count] === b[count]) count += 1;
  return count;
}

/** The other session to begin with: the one whose name is most like it, the first of several; else the same. */
export function otherSession(names, run) {
  const others = names.filter((name) => name !== run);
  const most = Math.max(...others.map((name) => sharedLetters(name, run)));
  return others.find((name) => sharedLetters(name, run) === most) ?? run;
}

/** What swapping the two makes of the address. @param {{a: any, b: any}} pair each {session, module, host} */
export function swapped({ a, b }) {
  return {
    run: b.session,
    module_name: b.module,
    host: b.host,
    run_b: a.session,
    module_b: a.module,
    host_b: a.host,
  };
}
