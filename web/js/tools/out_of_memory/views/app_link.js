// @ts-check
// A link to another view of this page: followed in place, so that the text stays; a new tab opens it as usual.
import { el } from "../../../base/dom.js";
import { formatQuery, parseQuery } from "../../../base/url_state.js";

export function appLink(label, patch, follow, title = null) {
  const open = (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    follow({ ...parseQuery(""), ...patch });
  };
  return el("a", { href: formatQuery(patch), title, on: { click: open } }, label);
}
