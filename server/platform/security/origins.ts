/** Normal form of an origin: scheme, host and port; null for an invalid one. */
export function normalizeOrigin(text: string): string | null {
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  const isBare = [url.pathname, url.search, url.hash, url.username, url.password].join("") === "/";
  return isBare && url.origin !== "null" ? url.origin : null;
}

/** Throws for an invalid origin, so that a typo is found at startup. */
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
