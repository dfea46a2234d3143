// @ts-check
/**
 * The middle of the page as a tool uses it: one workspace at a time, or a message in its place. A workspace is
 * {parts: {top, main, dock}, dispose(), redraw()} and whatever else its tool's keys act on.
 */
import { errorOfSession } from "./messages.js";

/** @param {any} shell the context of a tool (shell.js) */
export function createStage({ params, hosts, show, isGone }) {
  const session = params.get().run;
  let workspace = /** @type {any} */ (null);

  function clear() {
    workspace?.dispose();
    workspace = null;
  }

  /** @template T @param {string} title @param {() => T} create made after the one before has gone @returns {T} */
  function open(title, create) {
    clear();
    workspace = create();
    show({ title, ...workspace.parts });
    return workspace;
  }

  /** @param {any} content a message, or several parts */
  function say(content) {
    clear();
    show({ title: session, main: content });
  }

  /** A session that is not there gets the shell's own message; of one that is not read nobody knows the hosts. */
  async function sayError(error) {
    if (error.name === "AbortError" || (await isGone(error))) return;
    hosts.show([], null);
    say(errorOfSession(error));
  }

  return {
    session,
    workspace: () => workspace,
    open,
    say,
    sayError,
    /** A key without a workspace to act on does nothing. @param {(now: any, event: KeyboardEvent) => void} run */
    act: (run) => (event) => workspace && run(workspace, event),
    redraw: () => workspace?.redraw(),
    clear,
  };
}
