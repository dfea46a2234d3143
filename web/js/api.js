// @ts-check
// The HTTP API: the only thing the page knows of the world. Errors carry the server's own sentence, file and offset.
import { apiUrl, memoryViewUrl, takeEarly } from "./early.js";

export class ApiError extends Error {
  constructor(status, body, path) {
    super(body.message);
    this.status = status;
    this.code = body.code;
    this.file = body.file ?? null;
    this.offset = body.offset ?? null;
    this.path = path;
  }
}

export const fetchSessions = (signal) => getJson(apiUrl("/api/v1/sessions"), signal);
export const fetchServer = (signal) => getJson(apiUrl("/api/v1/server"), signal);
export const fetchModules = (session, signal) => getJson(apiUrl("/api/v1/modules", { session }), signal);

export const fetchMemoryView = (where, signal) => getJson(memoryViewUrl(where), signal);

export function fetchBuffer({ session, module, host, space, buffer }, signal) {
  const query = { session, module, host, memory_space: space, logical_buffer_id: buffer };
  return getJson(apiUrl("/api/v1/buffer", query), signal);
}

async function getJson(url, signal) {
  const response = (await takeEarly(url)) ?? (await reach(url, signal));
  const body = await response.json().catch(() => null);
  if (response.ok && body) return body;
  throw new ApiError(response.status, body?.error ?? unknownError(response, body), url);
}

async function reach(url, signal) {
  try {
    return await fetch(url, { signal, headers: { Accept: "application/json" } });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(
      0,
      { code: "unreachable", message: "The hbmview server does not answer. Is it still running?" },
      url,
    );
  }
}

function unknownError(response, body) {
  const what = body === null ? "an answer that is not JSON" : "no reason";
  return { code: "unknown", message: `The server answered ${response.status} with ${what}.` };
}

/** Last one wins: starting a new request aborts the one before. */
export function createLatest() {
  let controller = null;
  return {
    async run(request) {
      controller?.abort();
      const mine = new AbortController();
      controller = mine;
      const value = await request(mine.signal);
      if (mine.signal.aborted) throw new DOMException("superseded", "AbortError");
      return value;
    },
    stop() {
      controller?.abort();
    },
  };
}
