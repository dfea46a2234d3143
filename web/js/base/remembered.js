// @ts-check
// Choices that this browser remembers; in a private window they last until the page is left.

const PREFIX = "hbmview-";

/** @param {string} name @returns {string | null} */
export function remembered(name) {
  try {
    return localStorage.getItem(PREFIX + name);
  } catch {
    return null;
  }
}

/** @param {string} name @param {string | null} value null forgets it */
export function remember(name, value) {
  try {
    if (value === null) localStorage.removeItem(PREFIX + name);
    else localStorage.setItem(PREFIX + name, value);
  } catch {
    /* nothing is kept here */
  }
}
