import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { testStores, type TestStores } from "../../support/stores.ts";
import { drawQuestions, newMember, startedLobby } from "./fleet.ts";

describe("an endless lobby whose batches arrive too small", () => {
  let stores: TestStores;
  before(async () => void (stores = await testStores()));
  after(() => stores.stop());

  it("requests the next batch at once after a small one", { timeout: 15_000 }, async () => {
    const places: number[] = [];
    let called = () => {};
    const second = new Promise<void>((done) => (called = done));
    const member = await newMember(stores.redisUrl, {
      async draw(plan) {
        places.push(plan.first_index);
        if (places.length > 1) called();
        return drawQuestions({ count: 1 });
      },
    });
    try {
      await startedLobby(member.lobbies, "AAAAAA", { questions: null, seats: [1, 2], first: 1 });
      await second;
      assert.deepEqual(places.slice(0, 2), [1, 2]);
    } finally {
      await member.lobbies.stop();
    }
  });
});
