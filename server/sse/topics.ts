export type Topic = { kind: "lobby"; name: string; code: string } | { kind: "list"; name: string };

// Spelled out: case folding would let letters in that become these in upper case.
const codePattern = /^[A-HJ-NP-Za-hj-np-z2-9]{6}$/;

/**
 * Reads `<base>/lobby/{CODE}` or `<base>/lobbies`; null for every other text (HUB-01).
 * The code may be in lower case (LOB-03); `name` has it as events do.
 */
export function parseTopic(text: string, base: string): Topic | null {
  if (text === `${base}/lobbies`) return { kind: "list", name: text };
  const prefix = `${base}/lobby/`;
  if (!text.startsWith(prefix)) return null;
  const given = text.slice(prefix.length);
  if (!codePattern.test(given)) return null;
  const code = given.toUpperCase();
  return { kind: "lobby", name: prefix + code, code };
}
