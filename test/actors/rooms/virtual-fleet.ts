import type { Reply } from "../../../actors/contract.ts";
import type { Connections } from "../../../actors/log/connection.ts";
import { allShards, shardOf } from "../../../actors/log/keys.ts";
import type { Lobbies } from "../../../actors/lobby/rooms.ts";
import { typed } from "../../../actors/create-rooms.ts";
import { defaultTimings } from "../../../actors/timing.ts";
import { ModelRedis } from "../../faults/model-redis.ts";
import { publish, wire, type Wiring } from "../../faults/network.ts";
import { question, startOfTime } from "../../faults/openings.ts";
import { createNetwork, createVirtualRooms } from "../../faults/rooms.ts";
import { Timeline, type Place } from "../../faults/timeline.ts";
import { Vacancies } from "../../faults/vacancies.ts";
import { createChoices } from "../../support/random.ts";
import { deadChannel, ownerKey, workersKey } from "../../support/lobby-keys.ts";

export interface VirtualWorker extends Place {
  lobbies: Lobbies;
  wiring: Wiring;
}

/** Lets all promises settle that can. */
const settled = () => new Promise<void>((done) => setImmediate(done));
/** Long enough for any rebalancing. */
const calmMs = 8_000;

/** Workers with the timings and shards of the service, on a manual clock and a model of Redis. */
export class VirtualFleet {
  readonly timeline = new Timeline();
  readonly redis = new ModelRedis(() => Math.floor(startOfTime + this.timeline.now));
  readonly net = createNetwork(this.timeline, this.redis, createChoices(1));
  readonly vacancies = new Vacancies(this.redis, () => this.timeline.now);
  readonly #shards: readonly number[];

  constructor(shards = allShards) {
    this.#shards = shards;
  }

  get now(): number {
    return this.timeline.now;
  }

  async run(ms: number): Promise<void> {
    const end = this.timeline.now + ms;
    await settled();
    while (this.timeline.step(end)) await settled();
    this.timeline.now = end;
  }

  /** Runs until the condition is true; fails after a minute of the manual clock. */
  async until(isTrue: () => boolean, stepMs = 1): Promise<void> {
    const end = this.timeline.now + 60_000;
    while (!isTrue()) {
      if (this.timeline.now > end) throw new Error("not within a minute");
      await this.run(stepMs);
    }
  }

  /** A worker that listens but has not joined. */
  async start(
    name: string,
    alter: (connections: Connections) => Connections = (same) => same,
  ): Promise<VirtualWorker> {
    const place: Place = { name, isAlive: true, frozenUntil: 0 };
    const wiring = wire(this.net, place);
    const rooms = createVirtualRooms(this.net, place, {
      enqueueResult: async () => {},
      draw: async ({ count }) => Array.from({ length: count }, (_, i) => question(i)),
      connections: alter(wiring.connections),
      timings: defaultTimings,
      shards: this.#shards,
    });
    await this.ended(rooms.listen());
    return Object.assign(place, { lobbies: typed(rooms), wiring });
  }

  async join(worker: VirtualWorker): Promise<void> {
    await this.ended(worker.lobbies.join());
  }

  /** Workers that share all shards. */
  async calm(...names: string[]): Promise<VirtualWorker[]> {
    const workers: VirtualWorker[] = [];
    for (const name of names) {
      const worker = await this.start(name);
      await this.join(worker);
      workers.push(worker);
    }
    await this.run(calmMs);
    this.vacancies.forget();
    return workers;
  }

  async ended<T>(work: Promise<T>): Promise<T> {
    let isOver = false;
    const watched = work.finally(() => (isOver = true));
    watched.catch(() => undefined);
    await this.until(() => isOver, 0.5);
    return watched;
  }

  /** SIGKILL without a node-down notice. */
  kill(worker: VirtualWorker): void {
    worker.isAlive = false;
    worker.wiring.end(true);
  }

  /** Does what a primary does when one of its processes has exited. */
  publishNodeDown(worker: VirtualWorker): void {
    this.redis.zrem(workersKey, worker.name);
    publish(this.net, deadChannel, worker.name);
  }

  /** For this time no message reaches the worker, and it does not notice. */
  deafen(worker: VirtualWorker, ms: number): void {
    const [subscriber] = this.net.subscribers.get(`w:${worker.name}`) ?? [];
    if (!subscriber) throw new Error(`${worker.name} does not listen`);
    const channels = [...this.net.subscribers.values()].filter((subscribers) =>
      subscribers.delete(subscriber),
    );
    this.timeline.add(this.now + ms, null, () =>
      channels.forEach((subscribers) => subscribers.add(subscriber)),
    );
  }

  shares(): Record<string, number> {
    return this.vacancies.shares(this.#shards);
  }

  /** A code whose shard this worker owns. */
  codeOf(name: string, from = 0): string {
    for (let i = from; ; i++) {
      const code = `V${i}`;
      if (this.redis.get(ownerKey(shardOf(code)))?.startsWith(`${name}|`)) return code;
    }
  }

  /** Reads a lobby that does not exist: only an owner can answer that. */
  read(worker: VirtualWorker, code: string): Promise<Reply> {
    const by = { seatId: null, playerId: null };
    return Promise.resolve(worker.lobbies.ask(code, { type: "read", by }));
  }
}
