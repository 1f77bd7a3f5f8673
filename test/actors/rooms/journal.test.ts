import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Connection } from "../../../actors/log/connection.ts";
import { Journal, type Commit } from "../../../actors/log/journal.ts";
import { shardOf } from "../../../actors/log/keys.ts";
import { lobbyKeyspace } from "../../../actors/lobby/keys.ts";
import { systemTiming } from "../../../actors/timing.ts";
import { createMetrics } from "../../../server/platform/metrics/metrics.ts";
import { ownerKey } from "../../support/lobby-keys.ts";

const change = (code: string): Commit => ({
  code,
  expected: "",
  version: 1,
  id: "x",
  seq: 0,
  fields: [],
  removedFields: [],
  payloads: [],
  ttlMs: null,
  due: null,
});

/** A Redis that replies to scripts for this lobby's shard only when the test says so. */
function storeWithout(code: string, isSharded: boolean) {
  const held: (() => void)[] = [];
  const scripts: number[] = [];
  const evalsha = (_sha: string, keyCount: number, ...args: (string | number)[]) => {
    scripts.push(keyCount / 4);
    const answer = "c".repeat(keyCount / 4);
    if (args[0] !== ownerKey(shardOf(code))) return Promise.resolve(answer);
    return new Promise((resolve) => held.push(() => resolve(answer)));
  };
  const redis = { isSharded, evalsha } as unknown as Connection;
  const journal = new Journal({
    keys: lobbyKeyspace,
    redis,
    metrics: createMetrics().rooms("lobby"),
    timing: systemTiming,
    counted: null,
    isConfirmedAlive: () => true,
  });
  const commit = (one: string) => journal.commit(change(one), "w|1");
  return { commit, scripts, answer: () => held.splice(0).forEach((go) => go()) };
}

describe("commits of one worker", { timeout: 60_000 }, () => {
  it("continue in other shards of a cluster while one does not answer", async () => {
    const store = storeWithout("AAAAAA", true);
    const slow = store.commit("AAAAAA");
    assert.equal(await store.commit("BBBBBB"), "committed");
    assert.equal(await store.commit("CCCCCC"), "committed");
    store.answer();
    assert.equal(await slow, "committed");
  });

  it("of one shard are sent one script at a time, with the commits that arrived meanwhile in one script", async () => {
    for (const isSharded of [true, false]) {
      const store = storeWithout("AAAAAA", isSharded);
      const first = store.commit("AAAAAA");
      await new Promise((done) => setImmediate(done));
      const others = [store.commit("AAAAAA"), store.commit("AAAAAA")];
      await new Promise((done) => setImmediate(done));
      assert.deepEqual(store.scripts, [1]);
      store.answer();
      await first;
      await new Promise((done) => setImmediate(done));
      store.answer();
      await Promise.all(others);
      assert.deepEqual(store.scripts, [1, 2]);
    }
  });
});
