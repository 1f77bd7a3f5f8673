/** Fallback where the browser offers no storage: a reload loses it, but the game continues. */
const known = new Map<string, unknown>();

/** One stored value of this tab: two tabs are two players. The stored value was written by this page. */
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
