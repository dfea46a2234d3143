// @ts-check
/**
 * Of a log, the lines that its messages stand in: what a link needs to hold so that the same answer comes again. Pure.
 *
 *     1 noise ... 259,998 noise | 259,999 .. 260,031 the message | noise ...
 *                                 ^ line - MARGIN       last_line + MARGIN ^
 */
const MARGIN = 2; // a wrapped message begins on the line before its first words

/** @param {string} log as it was sent @param {{line: number, last_line?: number}[]} messages found in it */
export function excerptOf(log, messages) {
  const lines = log.split("\n");
  const kept = messages.map(({ line, last_line: last = line }) => ({
    from: Math.max(0, line - 1 - MARGIN),
    to: Math.min(lines.length, Math.max(line, last) + MARGIN),
  }));
  const parts = [];
  let at = 0;
  for (const { from, to } of kept.sort((a, b) => a.from - b.from)) {
    const begin = Math.max(at, from);
    if (begin < to) parts.push(...lines.slice(begin, to));
    at = Math.max(at, to);
  }
  return parts.join("\n");
}
