/** Where the browser keeps nothing for pages, a reload forgets; the game goes on all the same. @type {Map<string, unknown>} */
const known = new Map();

/** One value of this tab: two tabs are two players. @param {string} key */
export function tabValue(key) {
  const name = `emberline.${key}`;
  return {
    load: () => (known.has(name) ? known.get(name) : read(name)),
    /** @param {unknown} value */
    save: (value) => {
      known.set(name, value);
      try {
        sessionStorage.setItem(name, JSON.stringify(value));
      } catch {}
    },
  };
}

/** @param {string} name */
function read(name) {
  try {
    return JSON.parse(sessionStorage.getItem(name) ?? "null");
  } catch {
    return null;
  }
}
