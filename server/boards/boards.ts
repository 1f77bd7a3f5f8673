import { setTimeout as wait } from "node:timers/promises";
import type { EntityManager } from "@mikro-orm/postgresql";
import type { Redis } from "ioredis";
import { readBatch } from "../../db/queries/board-changes.ts";
import type { Clock } from "../core/clock.ts";
import { AppError } from "../core/errors.ts";
import { randomId } from "../core/ids.ts";
import type { Logger } from "../core/logger.ts";
import type { Metrics } from "../core/metrics.ts";
import { catchUp, createCarrier } from "./carry.ts";
import { familyOf, type Family } from "./families.ts";
import * as store from "./store.ts";

/** Boards held in Redis at once; past it the one read longest ago is closed. */
const maxOpen = 256;
/** A board nobody reads is closed after this. */
const idleMs = 6 * 3_600_000;
/** How long a reader waits for a board that is being built, and how often it looks. */
const buildWaitMs = 7_000;
const pollMs = 50;
const retryAfterSeconds = 2;
const sliceSize = 2_000;
/** Tries to open a board that was built while others write without a pause. */
const maxTries = 100;

export interface BoardsOptions {
  redis: Redis;
  /** A fork of its own for each use. */
  em: () => EntityManager;
  clock: Clock;
  log: Logger;
  metrics: Metrics;
}

export interface Boards {
  /**
   * Reads a board as Postgres has it at this moment. A board that Redis does not have is built first.
   * Throws `server:unavailable` when that takes long.
   */
  read(asked: store.Question): Promise<store.View>;
  /** Carries over what waits; closes boards nobody reads. */
  tidy(): Promise<void>;
}

interface Turn {
  /** Its write is on its way to Redis; never resolves when there is nothing to write. */
  sent: Promise<void>;
  /** What was committed before is in Redis, up to this batch. */
  done: Promise<number>;
}

/** Boards of any size: Postgres has the truth, Redis the order (server/boards/carry.ts). */
export function createBoards(options: BoardsOptions): Boards {
  const { redis, em, clock, log, metrics } = options;
  const building = new Map<string, Promise<void>>();
  const carrier = createCarrier({ redis, em, log, metrics });
  let running: Turn | null = null;
  let queued: Turn | null = null;

  /** Callers share turns. */
  function bringUpToDate(): Turn {
    if (running === null) return start();
    if (queued !== null) return queued;
    // The turn under way may have looked before the caller's change: the next one is shared.
    const next = running.done
      .catch(() => undefined)
      .then(() => {
        queued = null;
        return bringUpToDate();
      });
    return (queued = { sent: next.then(({ sent }) => sent), done: next.then(({ done }) => done) });
  }

  function start(): Turn {
    const { promise: sent, resolve } = Promise.withResolvers<void>();
    const done = carrier.carryOver(resolve).finally(() => (running = null));
    return (running = { sent, done });
  }

  /** After Redis was found to have lost something. */
  function bringBack(): Promise<number> {
    carrier.forget();
    return bringUpToDate().done;
  }

  async function build(family: Family): Promise<void> {
    const token = randomId();
    if (!(await store.claimBuilding(redis, family, token))) return;
    const name = `${family.name}~${token}`;
    try {
      if ((await store.readHeld(redis)).batch < 0) await bringBack();
      const since = await readBatch(em());
      await fill(family, name, token);
      if (await open(family, name, since)) metrics.boardBuilds.inc();
    } finally {
      await store.dropBuilt(redis, family, name);
      await store.releaseBuilding(redis, family);
    }
  }

  /** Whoever writes to the boards afterwards knows of this one. */
  async function open(family: Family, name: string, from: number): Promise<boolean> {
    let since = from;
    for (let tries = 0; tries < maxTries; tries++) {
      const held = await store.readHeld(redis);
      if (!(await catchUp(em(), redis, { family, name, since }))) return false;
      await makeRoom();
      if (await store.publishBuilt(redis, { family, name }, held, clock.now())) return true;
      since = Math.max(since, held.batch);
    }
    return false;
  }

  async function fill(family: Family, name: string, token: string): Promise<void> {
    let after = -1;
    for (;;) {
      const entries = await family.read(em(), { after, limit: sliceSize });
      const ids = entries.map(({ id }) => id);
      await store.fillBuilt(redis, { family, ids, entries }, name);
      await store.expireBuilt(redis, family, name);
      if (entries.length < sliceSize) return;
      if (!(await store.claimBuilding(redis, family, token))) throw new Error("another one builds");
      after = ids.reduce((highest, id) => Math.max(highest, id), after);
    }
  }

  async function makeRoom(): Promise<void> {
    const open = [...(await store.listOpen(redis))].sort(([, a], [, b]) => a - b);
    for (const [name] of open.slice(0, Math.max(0, open.length - maxOpen + 1))) {
      const family = familyOf(name);
      if (family) await store.closeBoard(redis, family);
    }
  }

  /** Builds, or waits while another process does; gives up waiting, not building. */
  async function waitForBuilding(family: Family): Promise<void> {
    const known = building.get(family.name);
    const work = known ?? build(family).finally(() => building.delete(family.name));
    if (!known) {
      building.set(family.name, work);
      work.catch((error: unknown) =>
        log.warn({ err: error, board: family.name }, "board not built"),
      );
    }
    const late = new AbortController();
    const options = { signal: late.signal };
    await Promise.race([work, wait(buildWaitMs, null, options)]).finally(() => late.abort());
  }

  async function readOnce(asked: store.Question): Promise<store.View | null> {
    const look = () => store.readView(redis, clock.now(), asked);
    const turn = bringUpToDate();
    await Promise.race([turn.sent, turn.done]);
    const early = await look();
    const batch = await turn.done;
    if (early === null || early.batch >= batch) return early;
    // Somebody else wrote first, and then this turn, or it was satisfied with theirs.
    const view = await look();
    if (view === null || view.batch >= batch) return view;
    // Redis lost its last seconds, or all of it.
    await bringBack();
    return look();
  }

  return {
    async read(asked) {
      const giveUpAt = performance.now() + buildWaitMs;
      for (;;) {
        const view = await readOnce(asked);
        if (view !== null) return view;
        await waitForBuilding(asked.family);
        const built = await readOnce(asked);
        if (built !== null) return built;
        if (performance.now() > giveUpAt) break;
        await wait(pollMs);
      }
      throw new AppError("server:unavailable", { params: { retry_after: retryAfterSeconds } });
    },
    async tidy() {
      await bringUpToDate().done;
      await carrier.settle();
      const now = clock.now();
      for (const [name, readAt] of await store.listOpen(redis)) {
        const family = familyOf(name);
        if (family && now - readAt > idleMs) await store.closeBoard(redis, family);
      }
    },
  };
}
