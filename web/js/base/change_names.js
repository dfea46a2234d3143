// @ts-check
/**
 * The changes that would bring a program's memory down, in the server's words: it names each, and says with a capacity
 * whether the range of what is predicted fits it. Pure.
 */

/** As a heading. @param {{id: string, name?: string, ways?: number | null}} change */
export function nameOfChange({ id, name, ways }) {
  const words = name ?? (id ?? "").replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1) + (ways > 1 ? `, ${ways} chips` : "");
}

/** "a, b and c over 4 chips" @param {{interventions: string[], names?: string[], ways?: number | null}} plan */
export function namesOfPlan({ interventions, names, ways }) {
  const all = names ?? interventions.map((id) => id.replaceAll("_", " "));
  const listed = all.length > 1 ? `${all.slice(0, -1).join(", ")} and ${all.at(-1)}` : all.join("");
  return ways > 1 ? `${listed} over ${ways} chips` : listed;
}

const FIT_WORDS = { fits: "fits", may_fit: "may fit", too_big: "too big" };

/** Of a reply's `fit`; "" where no capacity was told. */
export function fitWords(fit) {
  return FIT_WORDS[fit] ?? "";
}
