// @ts-check
/**
 * The slower half of a buffer's facts (/api/v1/buffer): asked for when the mouse rests, kept for the life of the view.
 * `get` answers at once with what is known; `want` fetches and calls back.
 */
const REST_MS = 70;

/** @param {(id: number, signal: AbortSignal) => Promise<any>} fetchDetails */
export function createBufferDetails(fetchDetails) {
  const known = new Map();
  let timer = 0;
  let controller = null;

  function want(id, onReady) {
    clearTimeout(timer);
    if (known.has(id)) return;
    timer = window.setTimeout(() => load(id, onReady), REST_MS);
  }

  async function load(id, onReady) {
    controller?.abort();
    controller = new AbortController();
    try {
      known.set(id, { details: await fetchDetails(id, controller.signal), error: null });
    } catch (error) {
      if (error.name === "AbortError") return;
      known.set(id, { details: null, error });
    }
    onReady(id);
  }

  return {
    get: (id) => known.get(id) ?? null,
    want,
    dispose() {
      clearTimeout(timer);
      controller?.abort();
    },
  };
}
