// @ts-check
/**
 * Keys of groups that are paths: a stack's frames, the outermost first, and the segments of a scope. Pure.
 *
 *     stack   train.py:9;gpt.py:53;nn.py:1
 *     scope   transformer/h/attn
 */

const SEPARATORS = { stack: ";", scope: "/" };

/** Is a key of this way to group a path? */
export const isPath = (by) => by in SEPARATORS;

/** A stack's innermost frame, which says most where there is room for one; other keys as they are. */
export const lastFrame = (by, key) => (by === "stack" ? key.slice(key.lastIndexOf(SEPARATORS.stack) + 1) : key);

/** Is `key` the path `prefix`, or one that goes on from it? */
export function isWithin(by, key, prefix) {
  return key === prefix || (isPath(by) && key.startsWith(prefix + SEPARATORS[by]));
}

/** What stands between the steps of such a key. */
export const separatorOf = (by) => SEPARATORS[by];
