import type { Question, Reveal } from "../generated/types.ts";

/**
 * Whether the revealed answer matches the hash that was published with the question. Pass the hash as
 * received then. Null if it cannot be verified: without a hash, or on a page without https, where browsers
 * offer no cryptography.
 */
export async function verifyReveal(
  answerHash: string | null,
  question: Question,
  reveal: Reveal,
): Promise<boolean | null> {
  const { subtle } = globalThis.crypto;
  if (answerHash === null || reveal.answer_salt === null || !subtle) return null;
  const { correct_index } = reveal;
  const parts = [reveal.answer_salt, question.id, correct_index];
  const text = [...parts, question.payload.choices[correct_index]].join("\n");
  const digest = new Uint8Array(await subtle.digest("SHA-256", new TextEncoder().encode(text)));
  const hex = Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex === answerHash;
}
