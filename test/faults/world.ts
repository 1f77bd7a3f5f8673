import type { Lobbies } from "../../actors/lobby/rooms.ts";
import { typed } from "../../actors/create-rooms.ts";
import { shardOf } from "../../actors/log/keys.ts";
import { parseOwner, targetOwners } from "../../actors/cluster/owners.ts";
import type { DrawnQuestion } from "../../actors/lobby/types.ts";
import { Follower } from "./follower.ts";
import { ensure, isGap, Violation, type Ledger } from "./ledger.ts";
import { ModelRedis } from "./model-redis.ts";
import type { Kind } from "./kinds.ts";
import type { Network } from "./link.ts";
import { publish, wire, type Wiring } from "./network.ts";
import { codes, emptyShards, question, shards, startOfTime } from "./openings.ts";
import { createNetwork, createVirtualRooms } from "./rooms.ts";
import { sabotaged, sabotagedFollower, type Sabotage } from "./sabotage.ts";
import { Timeline, type Place } from "./timeline.ts";
import { Vacancies } from "./vacancies.ts";
import { createChoices, type Choices } from "../support/random.ts";
import { historyKey, deadChannel, ownerKey, workersKey } from "../support/lobby-keys.ts";

export interface Worker extends Place {
  lobbies: Lobbies | null;
  isLeaving: boolean;
  isReady: boolean;
  readyAt: number;
  wiring: Wiring;
  /** Of each lobby, as if every worker had streams of it. */
  followers: readonly Follower[];
  /** Pending client requests of this worker; each is rejected at the worker's death. */
  open: Set<() => void>;
}

/** Maximum time for which a jump of Redis' clock may mislead the workers about each other. */
const livenessUnknownMs = 3_000;

/** The state of one schedule; it depends only on the seed. */
export class World {
  readonly seed: number;
  readonly kind: Kind;
  /** The lobbies in play, and their storage. */
  readonly codes: readonly string[];
  readonly shards: readonly number[];
  readonly random: Choices;
  readonly timeline = new Timeline();
  readonly net: Network;
  readonly redis: ModelRedis;
  readonly vacancies: Vacancies;
  readonly sabotage: Sabotage;
  readonly ledgers = new Map<string, Ledger>();
  readonly results = new Map<string, number>();
  /** Code -> newest seq in a response to a client. */
  readonly acknowledged = new Map<string, number>();
  readonly workers: Worker[] = [];
  /** Offset of the machines' wall clocks from the elapsed time. */
  wallOffset = 0;
  /** Sum of all steps by which they were set back. */
  setBackMs = 0;
  /** Time of the last jump of Redis' clock that heartbeats cannot detect. */
  clockJumpedAt = Number.NEGATIVE_INFINITY;
  /** Until then a live worker may count as dead. */
  troubledUntil = 0;
  /** All workers that run are connected to Redis again by this time. */
  reconnectedAt = 0;
  hasLost = false;
  /** Redis came back without a record that its data is complete. */
  mayHaveLost = false;
  /** False once no more faults are to be injected. */
  hasFaults = true;
  injected = 0;
  failure: Violation | null = null;
  /** Runs once, after the next commit. */
  afterCommit: (() => void) | null = null;
  readonly note: ((line: string) => void) | null;
  #drawn = 10_000;

  constructor(seed: number, kind: Kind, sabotage: Sabotage, note: ((line: string) => void) | null) {
    this.seed = seed;
    this.kind = kind;
    this.note = note && ((line) => note(`${this.timeline.now.toFixed(2).padStart(9)} ${line}`));
    this.sabotage = sabotage;
    this.random = createChoices(seed);
    const count = this.random.is(kind.secondLobby) ? 2 : 1;
    this.codes = codes.slice(0, count);
    this.shards = [...shards.slice(0, count), ...emptyShards.slice(0, kind.emptyShards)];
    this.redis = new ModelRedis(() => Math.floor(this.wall()), sabotage.store);
    // The shards had owners long before.
    const { history, strings } = this.redis;
    for (const shard of this.shards) strings.set(historyKey(shard), `${history} 0`);
    this.net = createNetwork(this.timeline, this.redis, this.random);
    this.vacancies = new Vacancies(this.redis, () => this.timeline.now);
    this.vacancies.released = (by) => this.#checkSlice(by);
    this.redis.committed = (commit) => {
      this.note?.(
        `store    commits ${commit.code} v${commit.version} messages ${commit.messages.map(([id]) => id).join()} by ${commit.token}: ${commit.fields.map(([name, value]) => (name.startsWith("d:") ? value.slice(0, 160) : name)).join(" ")}`,
      );
      this.ensure(
        this.mayHaveLost || !isGap(commit),
        "no gap without a loss",
        () => `${commit.code} v${commit.version}`,
      );
      this.guard(() => this.ledgers.get(commit.code)?.apply(commit));
      if (this.afterCommit && this.hasFaults) this.after(0, this.afterCommit);
      this.afterCommit = null;
    };
  }

  wall(): number {
    return startOfTime + this.timeline.now + this.wallOffset;
  }

  /** For this time a live worker may count as dead. */
  trouble(ms: number): void {
    this.troubledUntil = Math.max(this.troubledUntil, this.timeline.now + ms);
  }

  /** Keeps the first violation; the runtime must not swallow it. */
  guard(check: () => void): void {
    try {
      check();
    } catch (error) {
      this.failure ??=
        error instanceof Violation ? error : new Violation(`crash: ${String(error)}`);
    }
  }

  ledger(code: string): Ledger {
    const ledger = this.ledgers.get(code);
    if (!ledger) throw new Error(`no ledger of ${code}`);
    return ledger;
  }

  /** A question with an unused number. */
  newQuestion(): DrawnQuestion {
    const drawn = question(++this.#drawn);
    return this.sabotage.leaksAnswers ? { ...drawn, text: drawn.explanation } : drawn;
  }

  /** Redis' clock jumped, so live workers may count each other as dead for a while. */
  isLivenessUnknown(): boolean {
    return this.timeline.now - this.clockJumpedAt < livenessUnknownMs;
  }

  /** A clock set back delays deadlines by the same time, because they were armed by the earlier clock. */
  clockDebt(): number {
    return this.setBackMs;
  }

  /** Owner of the lobby according to Redis. */
  ownerOf(code: string): string | null {
    return parseOwner(this.redis.get(ownerKey(shardOf(code))))?.nodeId ?? null;
  }

  ready(): Worker[] {
    return this.workers.filter((one) => one.isAlive && one.isReady && !one.isLeaving);
  }

  after(ms: number, run: () => void): () => void {
    return this.timeline.add(this.timeline.now + ms, null, run);
  }

  /** Workers that joined long ago: they know each other and share the shards. */
  async startTogether(count: number): Promise<void> {
    this.net.isInstant = true;
    this.redis.knowScripts();
    const names = Array.from({ length: count }, (_, i) => `w${i + 1}`);
    for (const name of names) this.redis.zadd(workersKey, this.redis.now(), name);
    const places = names.map((name) => this.#place(name));
    const wanted = targetOwners(names, this.shards);
    // Owners first, so that the others find them in the map.
    places.sort((a, b) => Number(wanted.includes(b.name)) - Number(wanted.includes(a.name)));
    for (const worker of places) await this.#join(worker);
  }

  /** A process without Redis waits for it, like the real one. */
  startWorker(): void {
    if (!this.net.isUp) return void this.after(20, () => this.startWorker());
    void this.#join(this.#place(`w${this.workers.length + 1}`));
  }

  #place(name: string): Worker {
    const place: Place = { name, isAlive: true, frozenUntil: 0 };
    const worker: Worker = Object.assign(place, {
      lobbies: null,
      isLeaving: false,
      isReady: false,
      readyAt: Number.POSITIVE_INFINITY,
      wiring: wire(this.net, place),
      followers: this.codes.map((code) => new Follower(this, code, name)),
      open: new Set<() => void>(),
    });
    this.workers.push(worker);
    this.note?.(`${name} starts`);
    return worker;
  }

  async #join(worker: Worker): Promise<void> {
    const { sabotage, timeline } = this;
    try {
      const rooms = createVirtualRooms(this.net, worker, {
        enqueueResult: async ({ code, seq }) => {
          await this.#pass(worker);
          this.results.set(code, seq);
        },
        draw: async (plan) => {
          await this.#pass(worker);
          return Array.from({ length: plan.count }, () => this.newQuestion());
        },
        connections: sabotaged(worker.wiring.connections, sabotage),
        timings: { ...this.kind.timings, freshMs: sabotage.freshMs ?? this.kind.timings.freshMs },
        shards: this.shards,
      });
      for (const [i, code] of this.codes.entries()) {
        const follower = worker.followers[i];
        if (follower) rooms.room.commits.follow(code, sabotagedFollower(follower, sabotage));
      }
      await rooms.listen();
      worker.lobbies = typed(rooms);
      await worker.lobbies.join();
      worker.isReady = true;
      worker.readyAt = timeline.now;
      this.note?.(`${worker.name} is ready`);
    } catch (error) {
      this.note?.(`${worker.name} did not start: ${String(error)}`);
      this.kill(worker, true);
    }
  }

  /** Work outside the lobbies takes a while and sometimes fails. */
  async #pass(worker: Worker): Promise<void> {
    const ms = this.random.between(1, 20);
    await new Promise<void>((done) => void this.timeline.add(this.timeline.now + ms, worker, done));
    if (this.hasFaults && this.random.is(0.1)) throw new Error("the other service is unavailable");
  }

  /** SIGKILL at exactly this step; another process replaces it. */
  kill(worker: Worker, isAnnounced: boolean): void {
    if (!worker.isAlive) return;
    this.note?.(`${worker.name} dies${isAnnounced ? "" : " unnoticed"}`);
    worker.isAlive = false;
    worker.wiring.end(this.random.is(0.5));
    for (const disconnect of worker.open) this.after(0.2, disconnect);
    if (isAnnounced)
      this.after(this.random.between(1, 60), () => {
        if (this.net.isUp) publish(this.net, deadChannel, worker.name);
      });
    this.after(this.random.within(this.kind.bornMs), () => this.startWorker());
  }

  /** SIGTERM: the worker hands over its lobbies and exits. */
  leave(worker: Worker): void {
    const { lobbies } = worker;
    if (!lobbies || !worker.isReady) return;
    this.note?.(`${worker.name} leaves`);
    worker.isLeaving = true;
    this.startWorker();
    void lobbies.stop().then(() => {
      this.note?.(`${worker.name} has left`);
      worker.isAlive = false;
      for (const disconnect of worker.open) this.after(0.2, disconnect);
    });
  }

  /** One slice after the other, except where a worker may consider itself the last. */
  #checkSlice(by: string): void {
    const seenSince = this.timeline.now - this.kind.timings.deadMs;
    const hasOthers = this.ready().some((one) => one.name !== by && one.readyAt < seenSince);
    const isTroubled = this.troubledUntil >= seenSince || this.hasLost || this.isLivenessUnknown();
    if (!hasOthers || isTroubled) return;
    const count = this.vacancies.releasedBy(by);
    const most = Math.ceil(this.shards.length / 10);
    this.ensure(count <= most, "one slice at a time", () => `${by} released ${count} shards`);
  }

  ensure(holds: boolean, invariant: string, facts: () => string): void {
    this.guard(() => ensure(holds, invariant, facts));
  }
}
