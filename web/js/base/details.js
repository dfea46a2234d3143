// @ts-check
/**
 * The slower half of what a card tells: asked for when the mouse rests on a thing, and kept, since it comes back. `get`
 * answers at once with what is known; `want` asks and calls back. Instead of its facts a thing may have an `error`.
 */

/**
 * @param {(id: number, signal: AbortSignal) => Promise<any>} load
 * @param {{restMs: number, most?: number, isWhole?: (facts: any) => boolean}} options `most` that are kept; what is not
 *     whole is asked for again
 */
export function createDetails(load, { restMs, most = Infinity, isWhole = () => true }) {
  const known = new Map();
  let timer = 0;
  let controller = null;

  function keep(id, facts) {
    if (known.size >= most) known.clear();
    known.set(id, facts);
  }

  function want(id, onReady) {
    clearTimeout(timer);
    const facts = known.get(id);
    if (facts?.error || (facts && isWhole(facts))) return;
    timer = window.setTimeout(() => ask(id, onReady), restMs);
  }

  async function ask(id, onReady) {
    controller?.abort();
    controller = new AbortController();
    try {
      keep(id, await load(id, controller.signal));
    } catch (error) {
      if (error.name === "AbortError") return;
      keep(id, { error });
    }
    onReady(id);
  }

  return {
    get: (id) => known.get(id) ?? null,
    keep,
    want,
    stop() {
      clearTimeout(timer);
      controller?.abort();
    },
  };
}
