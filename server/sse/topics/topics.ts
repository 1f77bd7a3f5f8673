import { exactCodeOf } from "../../platform/text/lobby-codes.ts";

export type Topic = { kind: "lobby"; name: string; code: string } | { kind: "list"; name: string };

/**
 * Reads `<base>/lobby/{CODE}` or `<base>/lobbies`; null for every other text (HUB-01).
 * The code may be in lower case (LOB-03); `name` has it as events do.
 */
export function parseTopic(text: string, base: string): Topic | null {
  if (text === `${base}/lobbies`) return { kind: "list", name: text };
  const prefix = `${base}/lobby/`;
  if (!text.startsWith(prefix)) return null;
  const code = exactCodeOf(text.slice(prefix.length));
  return code === null ? null : { kind: "lobby", name: prefix + code, code };
}
