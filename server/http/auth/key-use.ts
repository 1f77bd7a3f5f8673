import type { KeyScope } from "../../platform/security/api-keys.ts";
import type { AnyRoute } from "../pipeline/route.ts";

/**
 * Effect of an API key on a route: `nothing` (the key is ignored), `quota` (it selects the realm and the higher
 * limit), or a scope with which it acts as its owner (KEY-03, KEY-04).
 */
export type KeyUse = KeyScope | "quota" | "nothing";

/** The first entry that matches method and path applies. */
const uses: readonly [methods: string, path: RegExp, use: KeyUse][] = [
  ["GET", /^\/v1\/users\/@me$/, "profile:read"],
  ["*", /^\/v1\/(?:gateway|tokens|users|oauth)(?:\/|$)/, "nothing"],
  ["*", /^\/v1\/realms\/\{slug\}\/keys(?:\/|$)/, "nothing"],
  ["GET", /^\/v1\/(?:wallet|embers|ingots)(?:\/|$)/, "wallet:read"],
  ["*", /^\/v1\/embers(?:\/|$)/, "awards:write"],
  ["GET", /^\/v1\/games\/trivia(?:\/|$)/, "trivia:read"],
  ["*", /^\/v1\/games\/trivia\/lobbies(?:\/|$)/, "lobbies:write"],
  ["*", /^\/v1\/games\/trivia(?:\/|$)/, "trivia:write"],
  ["*", /^\/v1\/games\/wordgame(?:\/|$)/, "wordgame:write"],
];

export function keyUseOf({
  method,
  path,
  auth,
}: Pick<AnyRoute, "method" | "path" | "auth">): KeyUse {
  const line = uses.find(
    ([methods, pattern]) => (methods === "*" || methods === method) && pattern.test(path),
  );
  const use = line?.[2] ?? "quota";
  // A public route needs no identity.
  return auth === "public" && use !== "nothing" ? "quota" : use;
}

/** The scope a key needs to act as its owner here; null where it cannot. */
export function scopeOf(use: KeyUse): KeyScope | null {
  return use === "quota" || use === "nothing" ? null : use;
}
