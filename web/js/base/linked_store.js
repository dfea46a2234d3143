// @ts-check
/**
 * A store whose view is in the address. It owns the view: what it is told shows at once and is written down. The
 * address is read when the store begins, and when somebody else changed it: the way back, another part of the page.
 *
 *     write ──> values ──watch──> charts
 *               |    ^
 *        encode v    | readers
 *               params
 */
import { createStore } from "./store.js";

/**
 * @param {{params: any, initial: object, readers: Record<string, (now: any) => object>,
 *          encode: (values: any) => Record<string, string | null>}} options `readers`: what each word of the address
 *     means for the values, given all words; `encode` tells the words that the store owns; `initial` is not there
 */
export function createLinkedStore({ params, initial, readers, encode }) {
  const keys = Object.keys(readers);
  const read = (now, changed) =>
    Object.assign({}, ...keys.filter((key) => changed.includes(key)).map((key) => readers[key](now)));
  const readWhole = () => ({ ...initial, ...read(params.get(), keys) });
  const store = createStore(readWhole());
  let isWriting = false;
  const dispose = params.watch(keys, (now, changed) => {
    if (!isWriting) store.set(read(now, changed));
  });

  /** Words that mean the same as before stay as they are. */
  function write(patch) {
    const before = encode(store.get());
    store.set(patch);
    const words = Object.entries(encode(store.get())).filter(([key, word]) => word !== before[key]);
    isWriting = true;
    params.set(Object.fromEntries(words));
    isWriting = false;
  }

  /** `set` is for what is not in the address; `readAll` when the address means something else now. */
  const readAll = () => store.set(readWhole());
  return { get: store.get, watch: store.watch, set: store.set, write, readAll, dispose };
}
