// @ts-check
// What a buffer is for. The order is that of the API's `category` numbers; the colour is the CSS variable --cat-<key>.

export const CATEGORIES = [
  { key: "parameter", label: "Parameter", title: "an argument of the program" },
  { key: "donated", label: "Donated", title: "an argument whose memory an output reuses (donate_argnums)" },
  { key: "output", label: "Output", title: "a result of the program" },
  { key: "constant", label: "Constant", title: "a constant of the program" },
  { key: "temporary", label: "Temporary", title: "an intermediate value; lives only for part of the program" },
];

export const TEMPORARY = 4;

export function categoryOf(number) {
  return CATEGORIES[number] ?? CATEGORIES[TEMPORARY];
}
