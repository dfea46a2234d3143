// @ts-check
/**
 * The memories of a session as one list: each memory id of each host that has events. A token names one in the address
 * ("host/memory id"). Pure.
 */

/** The highest peak first, by host and within each. @returns {{host: any, memory: any, token: string}[]} */
export function listMemories(reply) {
  return highestFirst(reply.hosts).flatMap((host) =>
    [...host.memories]
      .sort((a, b) => peakOf(b) - peakOf(a))
      .map((memory) => ({ host, memory, token: tokenOf(host.host, memory.memory_id) })),
  );
}

const peakOf = (memory) => memory.peak_bytes ?? 0;
const highestOf = (host) => Math.max(-1, ...host.memories.map(peakOf));

/** Hosts whose memory filled most first; those without events as they are listed. */
export function highestFirst(hosts) {
  return [...hosts].sort((a, b) => highestOf(b) - highestOf(a));
}

/**
 * Takes a later reply into the one that is shown: hosts that were known stay the same objects, and so do their
 * memories, which views hold on to.
 * @returns {{hosts: any[]}} the reply, changed
 */
export function takeLater(reply, later) {
  const known = new Map(reply.hosts.filter((one) => one.state !== "loading").map((one) => [one.host, one]));
  return Object.assign(reply, later, { hosts: later.hosts.map((one) => known.get(one.host) ?? one) });
}

/** The same memories are the same entries. */
export function listMoreMemories(before, reply) {
  const known = new Map(before.map((one) => [one.memory, one]));
  return listMemories(reply).map((one) => known.get(one.memory) ?? one);
}

/** Whether the memory that an address means may still come. */
export function isStillRead(reply, { host }) {
  return reply.hosts.some((one) => one.state === "loading" && (host === null || one.host === host));
}

export function readCount({ hosts }) {
  return hosts.filter((one) => one.state !== "loading").length;
}

export function tokenOf(host, memoryId) {
  return `${escaped(host)}/${escaped(memoryId)}`;
}

function escaped(text) {
  return text.replace(/[%/,]/g, encodeURIComponent);
}

/**
 * The memory that an address means: the highest of those that it names, of all when it names none; null when the
 * address names what is not there.
 */
export function chooseMemory(list, { host, memory_id: memoryId }) {
  const wanted = list.filter(
    (one) => (host === null || one.host.host === host) && (memoryId === null || one.memory.memory_id === memoryId),
  );
  return wanted.reduce((best, one) => (best && peakOf(best.memory) >= peakOf(one.memory) ? best : one), null);
}

/** The memories drawn over the chosen one, in the order of the list. */
export function overlaidMemories(list, text, chosen) {
  const tokens = new Set((text ?? "").split(","));
  return list.filter((one) => tokens.has(one.token) && one !== chosen);
}

export function toggleOverlay(text, token) {
  const tokens = (text ?? "").split(",").filter(Boolean);
  const left = tokens.filter((one) => one !== token);
  const now = left.length < tokens.length ? left : [...tokens, token];
  return now.length ? now.join(",") : null;
}

/** The profile's window in which all that is shown lies. */
export function windowOf(memories) {
  const begin = Math.min(...memories.map(({ host, memory }) => Math.min(host.begin_ps, memory.begin_ps)));
  const end = Math.max(...memories.map(({ host, memory }) => Math.max(host.end_ps, memory.end_ps)));
  return { begin, end: Math.max(end, begin + 1) };
}
