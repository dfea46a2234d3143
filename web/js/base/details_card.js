// @ts-check
/**
 * The card of everything about one thing: the one under the mouse, else the chosen one. What the page already holds
 * shows at once, the rest when it has come (details.js).
 */
import { el } from "./dom.js";
import { swatch } from "./figures.js";
import { requestFrame } from "./frame.js";

/**
 * @param {{className: string, hint: string, state: any, watches: string[], details: any, row: () => number | null,
 *          idOf?: (row: number) => number, keyOf: (row: number, found: any) => string,
 *          partsOf: (row: number, found: any) => any[] | null, isHeld: () => boolean, letGo: () => void}} options
 *     `row` to tell about, which is `idOf` it in the details; `keyOf` what its parts are made of; null instead of parts
 *     leaves the card as it is; `isHeld`: something was chosen, so the dock (shell/dock.js) opens, and may `letGo`
 */
export function createDetailsCard(options) {
  const { className, hint, state, watches, details, row, idOf = (at) => at, keyOf, partsOf, isHeld, letGo } = options;
  const node = el("article", { class: className, on: { "let-go": letGo } });
  let shown = "";

  function draw() {
    if (!node.isConnected) return; // a frame that was asked for before the rows got other numbers
    const at = row();
    node.toggleAttribute("data-held", isHeld());
    if (at === null) return show("", [el("p", { class: "note" }, hint)]);
    const found = details.get(idOf(at));
    const key = keyOf(at, found);
    if (key !== shown) show(key, partsOf(at, found));
    details.want(idOf(at), (id) => {
      const now = row();
      if (now !== null && id === idOf(now)) requestFrame(draw);
    });
  }

  function show(key, parts) {
    if (parts === null) return;
    shown = key;
    node.replaceChildren(...parts);
  }

  const dispose = state.watch(watches, () => requestFrame(draw));
  return { node, start: draw, redraw: draw, dispose };
}

export function cardHead(color, name, about, ...buttons) {
  return el(
    "header",
    { class: "card-head" },
    swatch(color),
    el("h2", { class: "mono ellipsis", title: name }, name),
    el("span", { class: "card-sub" }, about),
    ...buttons,
  );
}
