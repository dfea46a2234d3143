// @ts-check
/**
 * What is to be explained: a text that was pasted, or a file. It stays in the page's memory. Of more than the server
 * takes only the end is sent, where the error of a log is. Pure.
 * @typedef {{name: string, body: string | Blob, bytes: number, sentBytes: number, text: string | null,
 *   file?: Blob}} Source
 * `file` is the whole of it, which may be compressed (unpack.js).
 */

export const MAX_BYTES = 16 * 2 ** 20;
/** Longer texts are not put into the text field: a browser takes seconds to lay them out. */
export const SHOWN_MAX = 200_000;

/** @returns {Source} */
export function sourceOfText(text, name = "pasted text") {
  const blob = new Blob([text]);
  if (blob.size <= MAX_BYTES) {
    return { name, body: text, bytes: blob.size, sentBytes: blob.size, text: text.length <= SHOWN_MAX ? text : null };
  }
  return sourceOfBlob(blob, name);
}

/** @returns {Source} */
export function sourceOfBlob(blob, name) {
  const body = blob.size <= MAX_BYTES ? blob : blob.slice(blob.size - MAX_BYTES);
  return { name, body, bytes: blob.size, sentBytes: body.size, text: null, file: blob };
}

export const isCut = (source) => source.sentBytes < source.bytes;
