// @ts-check
// The command that asks the compiler what the advice foretells (docs/advice.md). Pure.

const PLAIN = /^[A-Za-z0-9_.,:/@%+=-]+$/; // nothing of it means anything to a shell

/** As one word of a shell's. @param {string} text */
export function shellWord(text) {
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/**
 * @param {string | null} logdir of the server; null: not known here, and the reader writes it for PATH
 * @param {{session: string, module: string}} advice
 * @param {Record<string, string | number | null>} asked capacity, ways, batch, sequence as they were asked about
 * @param {string | null} page whose server is told how far it is; null: none
 */
export function checkCommand(logdir, { session, module }, asked, page = null) {
  const told = { session, module, ...asked };
  const flags = Object.entries(told).filter(([, value]) => value !== null && value !== undefined && value !== "");
  const words = flags.map(([name, value]) => `--${name}=${shellWord(String(value))}`);
  const path = logdir === null ? "PATH" : shellWord(logdir);
  return ["hbmview advise", path, ...words, "--check", ...pageWords(page)].join(" ");
}

const pageWords = (page) => (page === null ? [] : [`--page=${shellWord(page)}`]);
