import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, it } from "node:test";
import {
  verifyReveal,
  type Question,
  type Reveal,
} from "../../../../server/web/client/emberline.ts";

describe("the check of a revealed answer", () => {
  it("passes only with the published key", async () => {
    const choices = ["Ag", "Au", "Fe", "Pb"];
    const question = { id: 7, payload: { choices, estimated_rate: 50 } } as unknown as Question;
    const reveal = { correct_index: 1, answer_salt: "00ff" } as unknown as Reveal;
    const published = createHash("sha256").update("00ff\n7\n1\nAu").digest("hex");
    assert.equal(await verifyReveal(published, question, reveal), true);
    assert.equal(await verifyReveal(published, question, { ...reveal, correct_index: 2 }), false);
    assert.equal(await verifyReveal(published, { ...question, id: 8 }, reveal), false);
    assert.equal(await verifyReveal(null, question, reveal), null);
  });
});
