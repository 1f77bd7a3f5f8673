/** Scheme, host and port in one spelling; null for what is not an origin. */
export function normalizeOrigin(text: string): string | null {
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  const isBare = [url.pathname, url.search, url.hash, url.username, url.password].join("") === "/";
  return isBare && url.origin !== "null" ? url.origin : null;
}

/** Throws on an entry that is not an origin, so that a typing error is found at start. */
export function parseOrigins(list: string): ReadonlySet<string> {
  const entries = list
    .split(",")
    .map((text) => text.trim())
    .filter((text) => text !== "");
  return new Set(
    entries.map((entry) => {
      const origin = normalizeOrigin(entry);
      if (origin === null)
        throw new Error(`CORS_ORIGINS: ${entry} is not an origin such as https://games.example`);
      return origin;
    }),
  );
}
