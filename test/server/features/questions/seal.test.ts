import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { hashAnswer, sealAnswer } from "../../../../server/features/questions/seal.ts";

const question = { id: 17, correctIndex: 2, choices: ["iron", "gold", "tin", "lead"] };

test("a seal is the hash of salt, id, index and text, so any client can compute it", () => {
  const { answerSalt, answerHash } = sealAnswer(question);
  assert.match(answerSalt, /^[0-9a-f]{32}$/);
  const expected = createHash("sha256").update(`${answerSalt}\n17\n2\ntin`).digest("hex");
  assert.equal(answerHash, expected);
});

test("a seal of the same question differs each time, so a known hash reveals nothing", () => {
  const seals = Array.from({ length: 50 }, () => sealAnswer(question));
  assert.equal(new Set(seals.map((seal) => seal.answerHash)).size, 50);
  assert.equal(new Set(seals.map((seal) => seal.answerSalt)).size, 50);
});

test("a seal changes with the id, index or text", () => {
  const salt = "00".repeat(16);
  const changed = [
    question,
    { ...question, id: 18 },
    { ...question, correctIndex: 1 },
    { ...question, choices: ["iron", "gold", "zinc", "lead"] },
  ];
  assert.equal(new Set(changed.map((one) => hashAnswer(salt, one))).size, 4);
});
