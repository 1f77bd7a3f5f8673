import { createHash, randomBytes } from "node:crypto";

/** 128 bits: the salt prevents trying the four choices (S15). */
const saltBytes = 16;

export interface Seal {
  answerSalt: string;
  answerHash: string;
}

/**
 * Commitment to the right answer: the hash is shown with the question, the salt with the reveal, so that players can
 * verify that the answer did not change in between.
 */
export function sealAnswer(question: {
  id: number;
  correctIndex: number;
  choices: readonly string[];
}): Seal {
  const answerSalt = randomBytes(saltBytes).toString("hex");
  return { answerSalt, answerHash: hashAnswer(answerSalt, question) };
}

/** Hex SHA-256 of salt, id, index and text of the right choice, each on a line of its own. */
export function hashAnswer(
  salt: string,
  question: { id: number; correctIndex: number; choices: readonly string[] },
): string {
  const { id, correctIndex, choices } = question;
  const lines = [salt, id, correctIndex, choices[correctIndex] ?? ""];
  return createHash("sha256").update(lines.join("\n")).digest("hex");
}
