/** Where the browser keeps nothing for pages, a reload forgets; the game goes on all the same. */
const known = new Map<string, unknown>();

/** One value of this tab: two tabs are two players. What comes back is what this page saved there. */
export function tabValue<T>(key: string) {
  const name = `emberline.${key}`;
  return {
    load: () => (known.has(name) ? known.get(name) : read(name)) as T | null,
    save: (value: T | null): void => {
      known.set(name, value);
      try {
        sessionStorage.setItem(name, JSON.stringify(value));
      } catch {}
    },
  };
}

function read(name: string): unknown {
  try {
    return JSON.parse(sessionStorage.getItem(name) ?? "null");
  } catch {
    return null;
  }
}
