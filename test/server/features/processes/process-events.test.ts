import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import type { MikroORM } from "@mikro-orm/postgresql";
import { ProcessEventSchema } from "../../../../db/entities/process-event.ts";
import { createOrm } from "../../../../db/orm.ts";
import { keepEvents } from "../../../../server/features/processes/domain/keep-events.ts";
import {
  createProcessEvents,
  maxListedEvents,
} from "../../../../server/features/processes/domain/process-events.ts";
import { AppError } from "../../../../server/platform/errors.ts";
import type { ProcessEvent } from "../../../../server/platform/process-event.ts";
import { manualClock } from "../../../support/clock.ts";
import { testStores, type TestStores } from "../../../support/stores.ts";

const clock = manualClock();

const event = (n: number, about: Partial<ProcessEvent> = {}): ProcessEvent => ({
  key: `primary-${n}`,
  kind: "started",
  atMs: clock.now() - 1_000_000 + n,
  ...{ service: "primary", role: "http", index: 0, pid: 7, instance: "http-0@abc" },
  ...{ version: "1.0.0", build: "0123456789abcdef", detail: {} },
  ...about,
});
const events = (count: number, from = 1) =>
  Array.from({ length: count }, (_, i) => event(from + i));

describe("events of processes", () => {
  let stores: TestStores;
  let orm: MikroORM;

  before(async () => {
    stores = await testStores();
    orm = await createOrm({ DATABASE_URL: stores.databaseUrl, DATABASE_POOL: 2 });
  });
  beforeEach(() => orm.em.fork().nativeDelete(ProcessEventSchema, {}));
  after(async () => {
    await orm.close(true);
    await stores.stop();
  });

  const keep = (given: readonly ProcessEvent[], kept?: number) =>
    keepEvents({ em: orm.em.fork() }, given, kept);
  const read = () => createProcessEvents({ open: async () => orm, clock });
  const keysOf = (found: readonly { key: string }[]) => found.map(({ key }) => key);

  it("are read as they were stored, newest first", async () => {
    const exited = event(2, {
      kind: "exited",
      instance: null,
      detail: { exit_code: null, signal: "SIGKILL", reason: "a <b>" },
    });
    assert.equal(await keep([event(1), exited]), true);
    assert.deepEqual(await read().last(9), [exited, event(1)]);
    assert.deepEqual(keysOf(await read().last(1)), ["primary-2"]);
  });

  it("are stored once, however often they are handed over", async () => {
    await keep(events(2));
    await keep(events(3));
    assert.deepEqual(keysOf(await read().last(9)), ["primary-3", "primary-2", "primary-1"]);
  });

  it("are those of the time that is asked for, the end left out", async () => {
    await keep(events(4));
    const from = event(2).atMs;
    assert.deepEqual(keysOf(await read().between(from, from + 2)), ["primary-3", "primary-2"]);
    const ago = clock.now() - event(3).atMs;
    assert.deepEqual(keysOf(await read().since(ago)), ["primary-4", "primary-3"]);
  });

  it("are kept up to the number of the newest, and listed up to another", async () => {
    await keep(events(3), 5);
    await keep(events(3, 4), 5);
    assert.deepEqual(
      keysOf(await read().last(9)),
      [6, 5, 4, 3, 2].map((n) => `primary-${n}`),
    );
    await keep(events(maxListedEvents + 1, 10));
    assert.equal((await read().since(2_000_000)).length, maxListedEvents);
  });

  it("are unavailable without Postgres", async () => {
    const open = () => Promise.reject(new Error("away"));
    await assert.rejects(
      createProcessEvents({ open, clock }).since(1),
      (error) => error instanceof AppError && error.code === "worker:events_unavailable",
    );
  });
});
