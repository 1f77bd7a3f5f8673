import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Redis } from "ioredis";
import { silentLogger } from "../../../../server/platform/log/logger.ts";
import { noOrigin } from "../../../../server/platform/origin.ts";
import { connectRedis, redisReady } from "../../../../server/platform/redis/redis.ts";
import type { InstanceEntry } from "../../../../server/runtime/fleet/entry.ts";
import { problemsOf, readProblems } from "../../../../server/runtime/fleet/problems.ts";
import { joinFleet } from "../../../../server/runtime/fleet/registry.ts";
import { createQueues } from "../../../../workers/producer.ts";
import { codexImport } from "../../../../workers/queues.ts";
import { testStores, type TestStores } from "../../../support/stores.ts";
import { entryOf } from "./entries.ts";

type Change = Partial<InstanceEntry>;
const fleetOf = (...changes: Change[]) =>
  changes.map((change, i) => ({ ...entryOf({ host: `h${i}`, ...change }), id: `i${i}` }));

/** What differs at the instances, the number of queued imports, and the kinds of problem. */
const cases: [what: string, changes: Change[], numImports: number, kinds: string[]][] = [
  ["two equal instances", [{}, {}], 0, []],
  [
    "one instance alone",
    [{ hasAvatarFolder: true, hasImportFolder: true, clockOffsetMs: 9_000 }],
    3,
    [],
  ],
  ["avatars in a folder of one", [{ hasAvatarFolder: true }, {}], 0, ["avatar-folder"]],
  ["clocks 499 ms apart", [{ clockOffsetMs: -200 }, { clockOffsetMs: 299 }], 0, []],
  ["clocks 500 ms apart", [{ clockOffsetMs: -200 }, { clockOffsetMs: 300 }], 0, ["clocks"]],
  ["IMPORT_DIR at one", [{}, { hasImportFolder: true }], 0, ["import-folder"]],
  ["a queued import", [{}, {}], 1, ["local-imports"]],
  ["a secret that the other knows", [{ secrets: ["a", "b"] }, { secrets: ["b", "a"] }], 0, []],
  [
    "a secret that the other does not know",
    [{ secrets: ["a", "b"] }, { secrets: ["b"] }],
    0,
    ["secrets"],
  ],
];

describe("what does not fit between instances", () => {
  for (const [what, changes, numImports, kinds] of cases)
    it(`is ${kinds.join(", ") || "nothing"} with ${what}`, () => {
      const found = problemsOf(fleetOf(...changes), numImports);
      assert.deepEqual(
        found.map(({ kind }) => kind),
        kinds,
      );
    });

  it("names the instances, up to four, and what to do", () => {
    const many = Array.from({ length: 6 }, () => ({ hasAvatarFolder: true }));
    const [problem] = problemsOf(fleetOf(...many), 0);
    assert.match(
      problem?.text ?? "",
      /^avatars of h0 \(i0\), h1 \(i1\), h2 \(i2\), h3 \(i3\) and 2 more .*: set AVATAR_STORE$/,
    );
  });
});

describe("the problems of the fleet", () => {
  let stores: TestStores;
  let redis: Redis;
  before(async () => {
    stores = await testStores();
    redis = connectRedis(stores.redisUrl, silentLogger, "test");
    await redisReady(redis);
  });
  after(async () => {
    redis.disconnect();
    await stores.stop();
  });

  it("are read from the registry and the queue of imports", async () => {
    const queues = createQueues(stores.redisUrl, silentLogger);
    await joinFleet(redis, "one", entryOf());
    const kinds = async () => (await readProblems(redis)).map(({ kind }) => kind);
    await queues.enqueue(codexImport, { game: "g", envelope: "/a", stamp: 1 }, noOrigin);
    assert.deepEqual(await kinds(), []);
    await joinFleet(redis, "two", entryOf());
    assert.deepEqual(await kinds(), ["local-imports"]);
    const queue = queues.all().find(({ name }) => name === codexImport.name);
    await queue?.pause();
    assert.deepEqual(await kinds(), ["local-imports"], "also while the queue is paused");
    await queue?.drain();
    assert.deepEqual(await kinds(), []);
    await queues.close();
  });
});
