import { exactCodeOf } from "../../platform/text/lobby-codes.ts";

/** One room of a kind, or the list of public lobbies. */
export type Topic =
  { kind: string; name: string; code: string } | { kind: "list"; name: string; code?: undefined };

/**
 * Reads `<base>/<kind>/{CODE}` or `<base>/lobbies`; null for every other text (HUB-01).
 * The code may be in lower case (LOB-03); `name` has it as events do.
 */
export function parseTopic(text: string, base: string, kind = "lobby"): Topic | null {
  if (text === `${base}/lobbies`) return { kind: "list", name: text };
  const prefix = `${base}/${kind}/`;
  if (!text.startsWith(prefix)) return null;
  const code = exactCodeOf(text.slice(prefix.length));
  return code === null ? null : { kind, name: prefix + code, code };
}
