import { nextDeadline } from "../../actors/lobby/decide-tick.ts";
import type { Reply } from "../../actors/contract.ts";
import type { Connection } from "../../actors/log/connection.ts";
import { loadRoom } from "../../actors/log/stored-state.ts";
import { evolve } from "../../actors/lobby/evolve.ts";
import { messageTypes as messages } from "../../actors/lobby/messages.ts";
import { Ledger } from "./ledger.ts";
import { by, prepare, seatsOf, seed, type Opening } from "./openings.ts";
import { Player } from "./player.ts";
import type { Kind } from "./kinds.ts";
import type { Sabotage } from "./sabotage.ts";
import { planFaults, type Fault } from "./faults.ts";
import { World } from "./world.ts";
import { eventStreamKey, lobbyKey, publicListKey } from "../support/lobby-keys.ts";

/** Clients that are not finished by then are stuck. */
const stuckAfterMs = 60_000;
/** Time before the final checks: dead workers are detected and replaced, deadlines executed. */
const settleMs = 3_500;
/** Additional time for changes that workers detect without a message. */
const unnoticedMs = 2_000;
/** After the faults some worker is ready within this many waits. */
const waitMs = 50;
const maxWaits = 60;
/** How long a shard may have no owner at the end, since a worker may just have joined. */
const vacantMs = 1_500;
/** How overdue a deadline may be at the end. */
const overdueMs = 1_000;

const modes = ["versus", "coop"] as const;
const openings = modes.flatMap((mode): Opening[] => [
  { mode, questions: 3, isStarted: false, version: 0 },
  { mode, questions: 2, isStarted: false, version: 2 },
  { mode, questions: 2, isStarted: false, version: 2, isHaunted: true },
  { mode, questions: 4, isStarted: true, version: 3 },
  { mode, questions: null, isStarted: true, version: 3 },
]);
const longOpenings = modes.flatMap((mode): Opening[] => [
  { mode, questions: 3, isStarted: true, version: 29 },
  { mode, questions: 2, isStarted: true, version: 31 },
]);

/**
 * Plays one seed from beginning to end, step by step; promises settle between the steps. It runs the real
 * classes on simulated clocks and a model of Redis, because most errors lie between their promises, where a
 * separate model of the protocol would not have shown them.
 */
export class Schedule {
  readonly world: World;
  steps = 0;
  #players: Player[] = [];
  #faults: Fault[];
  #phase: "faults" | "settling" | "checking" | "over" = "faults";
  #end = stuckAfterMs;
  #missing = 0;
  #waits = 0;
  /** Whether the deadlines are awaited before the final checks. */
  #settles = false;

  /** Begins at the first `step`; before each step all promises must have settled. */
  constructor(
    seedNumber: number,
    kind: Kind,
    sabotage: Sabotage,
    note: ((line: string) => void) | null = null,
  ) {
    const world = new World(seedNumber, kind, sabotage, note);
    this.world = world;
    this.#faults = planFaults(world);
    for (const code of world.codes) this.#open(code);
    const count = world.random.pick(kind.workers);
    if (kind.joinsBefore) void world.startTogether(count);
    else for (let i = 0; i < count; i++) world.startWorker();
  }

  /** One thing happens; false when the schedule is over. */
  step(): boolean {
    const { world } = this;
    if (world.failure || this.#phase === "over") return false;
    this.steps += 1;
    world.net.isInstant = false;
    while (this.#faults[0] && this.#faults[0].step <= this.steps && world.hasFaults)
      this.#faults.shift()?.inject(world);
    const hasEvent = world.timeline.step(this.#end);
    if (this.#phase === "faults" && this.#players.every((player) => player.isDone))
      this.#endFaults();
    if (!hasEvent || (this.#phase === "checking" && this.#missing === 0)) this.#nextPhase();
    return true;
  }

  #open(code: string): void {
    const { world } = this;
    const { random, kind } = world;
    const opening = random.pick(random.is(kind.longOpening) ? longOpenings : openings);
    const ready = opening.version === 0 ? null : prepare(code, opening);
    if (ready) seed(world.redis, code, ready);
    world.ledgers.set(code, new Ledger(code, ready?.state ?? null, ready?.version ?? 0));
    world.acknowledged.set(code, ready?.seq ?? 0);
    // A late client would be refused, which is rarely worth testing.
    const isFull = ready !== null && opening.isStarted && random.is(0.8);
    const clients = opening.isHaunted ? 4 : isFull ? 2 : random.pick(kind.clients);
    seatsOf(code)
      .slice(0, clients)
      .forEach((seatId, i) => {
        const player = new Player(world, {
          code,
          opening,
          seatId,
          isHost: i === 0,
          isSeated: ready !== null && i < 2,
          commands: random.within(kind.commands),
        });
        this.#players.push(player);
        world.after(random.within(kind.thinkMs), () => player.think());
      });
  }

  /** No more faults; pending work completes. */
  #endFaults(): void {
    const { world } = this;
    world.hasFaults = false;
    const mayBeUnnoticed = world.hasLost || world.net.messages.lost > 0;
    world.net.messages = { lost: 0, doubled: 0, late: 0 };
    world.note?.("no more faults");
    this.#phase = "settling";
    const settles = world.random.is(world.kind.settles);
    this.#end = !settles
      ? world.timeline.now
      : Math.max(world.timeline.now, ...world.workers.map((one) => one.frozenUntil)) +
        settleMs +
        (mayBeUnnoticed ? unnoticedMs : 0);
    this.#settles = settles;
  }

  #nextPhase(): void {
    const { world } = this;
    if (this.#phase === "faults") {
      const hanging = this.#players.filter((player) => !player.isDone).map((one) => one.seatId);
      world.ensure(false, "every command is answered", () => `seats ${hanging.join()} wait`);
      return;
    }
    if (this.#phase === "settling") {
      // A process that has just started may still have to join.
      if (world.ready().length === 0 && this.#waits++ < maxWaits) {
        this.#end += waitMs;
        return;
      }
      this.#phase = "checking";
      this.#end = world.timeline.now + 6_000;
      if (this.#settles) world.guard(() => this.#checkDeadlines());
      if (this.#settles) this.#checkShards();
      if (this.#settles) this.#checkStreams();
      this.#readLobbies();
      return;
    }
    world.ensure(this.#missing === 0, "every command is answered", () => "the last reads hang");
    this.#phase = "over";
  }

  /** The lobbies' deadlines were executed, results handed over, and the index is correct. */
  #checkDeadlines(): void {
    const { world } = this;
    for (const { state, code } of world.ledgers.values()) {
      if (!state) continue;
      const ids = world.redis.streams.get(eventStreamKey(code))?.map(([id]) => id) ?? [];
      const isGapless = ids.every((id, i) => i === 0 || id === (ids[i - 1] ?? 0) + 1);
      world.ensure(isGapless || world.mayHaveLost, "seq gap-free", () => `${code}: ${ids.join()}`);
      const due = nextDeadline(state);
      world.ensure(
        due === null || due > world.wall() - overdueMs - world.clockDebt(),
        "no deadline is forgotten",
        () => `${code} (${state.status}) is overdue by ${world.wall() - (due ?? 0)} ms`,
      );
      if (state.status !== "finished") continue;
      if (world.clockDebt() < overdueMs)
        world.ensure(world.results.has(code), "every result is handed over", () => code);
      if (world.hasLost) continue;
      const isListed = world.redis.hget(publicListKey, code) !== null;
      world.ensure(!isListed, "no finished lobby is listed", () => code);
    }
  }

  #checkShards(): void {
    const { world } = this;
    const { oldestMs } = world.vacancies;
    const isOwned = oldestMs < vacantMs || world.hasLost || world.isLivenessUnknown();
    world.ensure(isOwned, "no shard is forgotten", () => `one is free since ${oldestMs} ms`);
  }

  /** Every worker that runs knows whether its streams get the messages from its own commits. */
  #checkStreams(): void {
    const { world } = this;
    for (const { isAlive, frozenUntil, followers } of world.workers)
      if (isAlive && frozenUntil <= world.timeline.now)
        for (const follower of followers) follower.checkSource();
  }

  #readLobbies(): void {
    const { world } = this;
    const workers = world.ready();
    world.ensure(workers.length > 0, "the service recovers", () => "no worker is ready");
    if (workers.length === 0) return;
    // A frozen process would answer a direct request from its outdated state.
    const awake = workers.filter(({ frozenUntil }) => frozenUntil <= world.timeline.now);
    for (const [code, ledger] of world.ledgers) {
      const worker = world.random.pick(awake.length > 0 ? awake : workers);
      const [seatId = 0] = seatsOf(code);
      this.#missing += 2;
      // A command abandoned by its client may still be executed during our reads.
      const before = ledger.seq;
      const asked = worker.lobbies?.ask(code, { type: "read", ...by(seatId) });
      void Promise.resolve(asked).then((reply) => {
        if (reply === undefined) return;
        this.#missing -= 1;
        world.guard(() => this.#checkRead(ledger, before, reply));
      });
      void loadRoom(directly(world), lobbyKey(code), { evolve, messages }).then(
        ({ state, version }) => {
          this.#missing -= 1;
          // The read may have committed; the ledger has recorded that too.
          world.ensure(
            version === ledger.version && JSON.stringify(state) === JSON.stringify(ledger.state),
            "what is stored is what happened",
            () =>
              `${code} v${version} and v${ledger.version}:\n${JSON.stringify(state)}\n${JSON.stringify(ledger.state)}`,
          );
        },
        (error: unknown) => {
          this.#missing -= 1;
          world.ensure(false, "what is stored is what happened", () => `${code}: ${String(error)}`);
        },
      );
    }
  }

  #checkRead(ledger: Ledger, before: number, reply: Reply): void {
    const { world } = this;
    const isThere = ledger.state !== null;
    world.ensure(
      reply.ok === isThere,
      "the service recovers",
      () => `${ledger.code}: ${JSON.stringify(reply)}`,
    );
    if (reply.ok && !world.hasLost && !world.isLivenessUnknown())
      world.ensure(
        seqIn(reply.body) >= before && seqIn(reply.body) <= ledger.seq,
        "the service recovers",
        () => `${ledger.code} should be at seq ${ledger.seq}: ${reply.body}`,
      );
  }
}

/** Reads from Redis without the network. */
function directly({ redis, sabotage }: World): Pick<Connection, "hgetall"> {
  const read = (key: string) => redis.hgetall(key);
  return { hgetall: async (key) => (sabotage.readBack ? sabotage.readBack(read(key)) : read(key)) };
}

function seqIn(body: string | null): number {
  return Number(/"seq":(\d+),"hub"/.exec(body ?? "")?.[1] ?? Number.NaN);
}
