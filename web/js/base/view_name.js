// @ts-check
// What the page shows, in its bar: the session, what of it, and what that is.
import { el } from "./dom.js";

/** @param {string | null} session null where its name is that of what is shown */
export function viewName(session, name, more, title) {
  return el(
    "h1",
    { class: "headline-name ellipsis", title },
    session === null ? null : el("span", { class: "headline-session" }, `${session} / `),
    name,
    el("span", { class: "headline-space" }, ` ${more}`),
  );
}
