// @ts-check
/**
 * A compressed log as what it holds, before it is sent: so the end of a long one can be sent, and the lines of its
 * messages be put into a link. Of one that breaks off, what lies before that.
 *
 *     train.log.gz ──gunzip──> [ ... | the last MAX_BYTES ]
 */
import { MAX_BYTES, sourceOfBlob } from "./data/source.js";

/** @param {import("./data/source.js").Source} source */
export async function unpacked(source) {
  if (!source.file || typeof DecompressionStream === "undefined" || !(await isGzip(source.file))) return source;
  const { parts, size } = await endOf(source.file.stream().pipeThrough(new DecompressionStream("gzip")));
  if (size === 0) return source; // the server says what is wrong with it
  return { ...sourceOfBlob(new Blob(parts), source.name), bytes: size };
}

async function isGzip(file) {
  const [first, second] = new Uint8Array(await file.slice(0, 2).arrayBuffer());
  return first === 0x1f && second === 0x8b;
}

/** The last parts of a stream, MAX_BYTES and the rest of a part. */
async function endOf(stream) {
  const parts = [];
  const reader = stream.getReader();
  let size = 0;
  let kept = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      parts.push(value);
      size += value.length;
      kept += value.length;
      while (kept - parts[0].length >= MAX_BYTES) kept -= parts.shift().length;
    }
  } catch {
    // cut off: what came before is there
  }
  return { parts, size };
}
