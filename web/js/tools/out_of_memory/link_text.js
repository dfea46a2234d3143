// @ts-check
/**
 * The text of a message behind the "#" of the page's address, compressed: a reload, or a colleague who is sent the
 * address, gets the same answer. Browsers do not send that part to any server. A text that would make the address
 * longer than chats and browsers take is not put there.
 *
 *     text ──deflate──> bytes ──base64url──> "#log=7VZNb9s4EL37Vw..."
 */
const KEY = "#log=";
export const LINK_CHARS_MAX = 8000;
const TEXT_BYTES_MAX = 1 << 20; // a small link may hold a very large text

/** @returns {Promise<string | null>} null where it would be too long, or the browser cannot compress */
export async function packText(text) {
  if (typeof CompressionStream === "undefined" || text.length > TEXT_BYTES_MAX) return null;
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const packed = KEY + base64Of(new Uint8Array(await new Response(stream).arrayBuffer()));
  return packed.length > LINK_CHARS_MAX ? null : packed;
}

export const holdsText = (hash) => hash.startsWith(KEY);

/** @returns {Promise<string>} Throws where the link was cut off or holds something else. */
export async function unpackText(hash) {
  const bytes = bytesOf(hash.slice(KEY.length));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const parts = [];
  let size = 0;
  for (const reader = stream.getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > TEXT_BYTES_MAX) throw new RangeError("the text is too large");
    parts.push(value);
  }
  return new TextDecoder().decode(await new Blob(parts).arrayBuffer());
}

function base64Of(bytes) {
  const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function bytesOf(base64) {
  return Uint8Array.from(atob(base64.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0));
}
