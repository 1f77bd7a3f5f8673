import { noOrigin, type Origin } from "../server/platform/origin.ts";
import type { Leases } from "./cluster/leases.ts";
import type { OwnedRooms } from "./contract.ts";
import type { Connection } from "./log/connection.ts";
import { shardOf } from "./log/keys.ts";
import { notOwner, type Outcome } from "./outcome.ts";
import { Room, type RoomHost, type SuspectRoom } from "./room.ts";
import type { BaseCommand, BaseState } from "./rules.ts";
import type { Shared } from "./shared.ts";
import { Signal } from "./signal.ts";
import { retryMs, Ticker } from "./ticker.ts";
import type { Cancel } from "./timing.ts";

/** Maximum number of rooms shown to operators. */
const maxDescribed = 100;
/** Rooms without work for this long are evicted from memory; the next command loads them again. */
const idleMs = 60_000;
const sweepMs = 30_000;
/** Retry interval of a tick after an error in the rules. */
const brokenRetryMs = 10_000;
/** How long a handoff waits for commits in flight; the fencing token makes it safe to continue after that. */
const idleWaitMs = 2_000;
const nothingKnown = { seq: 0, unacknowledgedSeq: 0 };

type FromRooms = "committed" | "doubted" | "loaded" | "queue" | "remove" | "ticker";
export interface RoomsDeps extends Omit<RoomHost, FromRooms> {
  redis: Pick<Connection, "hgetall" | "zrem">;
  leases: RoomHost["leases"] & Pick<Leases, "acquired" | "released" | "closing" | "restored">;
  metrics: Pick<Shared["metrics"], "inMemory" | "mailboxWaitSeconds">;
  /** Called when the first room enters memory and when the last one leaves. */
  onOccupied?: ((isOccupied: boolean) => void) | undefined;
}

/** The rooms of a kind in the memory of this process: finds, opens and evicts them. */
export class Rooms {
  readonly committed: RoomHost["committed"] = new Signal();
  readonly doubted: RoomHost["doubted"] = new Signal();
  readonly loaded: RoomHost["loaded"] = new Signal();
  readonly #deps: RoomsDeps;
  readonly #host: RoomHost;
  readonly #ticker: Ticker;
  readonly #queue: RoomHost["queue"] = { length: 0 };
  /** Shard -> code -> room; a shard without rooms has no entry. */
  readonly #shards = new Map<number, Map<string, Room>>();
  /**
   * What is known of rooms that were evicted while Redis was unreachable, until they are opened again or the shard
   * changes owner: a process that outlives a restart of Redis keeps its last numbers.
   */
  readonly #retained = new Map<number, Map<string, SuspectRoom>>();
  readonly #stopSweeper: Cancel;
  #count = 0;

  constructor(deps: RoomsDeps) {
    this.#deps = deps;
    const { leases, timing, clock } = deps;
    const { committed, doubted, loaded } = this;
    this.#ticker = new Ticker(clock, timing, (code) => this.#fire(code));
    const ticker = this.#ticker;
    const remove = (room: Room) => this.#remove(room);
    this.#host = { ...deps, ticker, queue: this.#queue, committed, doubted, loaded, remove };
    this.#stopSweeper = timing.every(sweepMs, () => this.#sweep());
    leases.acquired.on((shard, isRetained, deadlines) => {
      if (!isRetained) this.#retained.delete(shard);
      for (const { code, due } of deadlines) this.#restoreDeadline(code, due);
    });
    leases.restored.on((code, due) => this.#restoreDeadline(code, due));
    leases.closing.on((shard) => this.#untilIdle(shard));
    leases.released.on((shard, isRetained) => this.#lose(shard, isRetained));
  }

  /** Puts a command into the queue of its room; resolves to the outcome, `notOwner` without the lease of the shard. */
  async deliver(code: string, command: BaseCommand, id: string, origin: Origin): Promise<Outcome> {
    const shard = shardOf(code);
    if (this.#deps.leases.tokenOf(shard) === null) return notOwner;
    return this.#open(code, shard).take(command, id, origin);
  }

  /** Rooms in memory. */
  get count(): number {
    return this.#count;
  }

  /** Commands that wait in them. */
  get waiting(): number {
    return this.#queue.length;
  }

  /** The committed state, once no commit is in flight; null if the room is not in memory. */
  async stateOf(code: string): Promise<BaseState | null> {
    return (await this.#find(code)?.committedState()) ?? null;
  }

  /** Commands that a room has answered since it was opened here; null if it is not in memory. */
  commandsOf(code: string): number | null {
    return this.#find(code)?.numCommands ?? null;
  }

  /** Some of the rooms in memory, in no particular order. */
  describe(): Pick<OwnedRooms, "held" | "described"> {
    const { kind, clock } = this.#deps;
    const held: OwnedRooms["held"] = [];
    const described: OwnedRooms["described"] = [];
    for (const { code, shard, state, lastUsedAt, numCommands } of this.#all()) {
      if (held.length >= maxDescribed) break;
      if (!state) continue;
      const status = kind.status(state, clock.now());
      const deadline = kind.nextDeadline(state);
      held.push({ code, shard, status, seq: state.seq, deadline, lastUsedAt, numCommands });
      if (kind.describe) described.push(kind.describe(state));
    }
    return { held, described };
  }

  /** The connection to Redis was lost: nothing in memory is served until it is verified. */
  suspectAll(): void {
    for (const room of this.#all()) room.suspect();
  }

  /** Rooms of a shard that have not been verified since Redis may have lost writes. */
  suspects(shard: number): SuspectRoom[] {
    const unsure = this.#ofShard(shard).filter((room) => room.isUnsure);
    const here = unsure.flatMap(({ evidence }) => evidence ?? []);
    return [...(this.#retained.get(shard)?.values() ?? []), ...here];
  }

  /** Redis has the state that these rooms have in memory. */
  markVerified(shard: number, codes: readonly string[]): void {
    for (const code of codes) {
      this.#find(code)?.verified();
      this.#retained.get(shard)?.delete(code);
    }
  }

  /** The stored state of a room may differ: it is loaded again, and continues after the lost numbers. */
  resync(code: string): void {
    if (this.#find(code)?.isWorking !== true) this.#fire(code);
  }

  stop(): void {
    this.#ticker.stop();
    this.#stopSweeper();
  }

  #find(code: string): Room | undefined {
    return this.#shards.get(shardOf(code))?.get(code);
  }

  #ofShard(shard: number): Room[] {
    return [...(this.#shards.get(shard)?.values() ?? [])];
  }

  *#all(): Generator<Room> {
    for (const rooms of this.#shards.values()) yield* rooms.values();
  }

  #open(code: string, shard: number): Room {
    const rooms = this.#shards.get(shard) ?? new Map<string, Room>();
    const known = rooms.get(code);
    if (known) return known;
    this.#shards.set(shard, rooms);
    const retained = this.#retained.get(shard);
    const room = new Room(this.#host, code, shard, retained?.get(code) ?? nothingKnown);
    retained?.delete(code);
    rooms.set(code, room);
    this.#setCount(this.#count + 1);
    return room;
  }

  #remove(room: Room): void {
    const rooms = this.#shards.get(room.shard);
    if (rooms?.get(room.code) !== room) return;
    rooms.delete(room.code);
    if (rooms.size === 0) this.#shards.delete(room.shard);
    this.#setCount(this.#count - 1);
  }

  #setCount(count: number): void {
    const { metrics, onOccupied } = this.#deps;
    const wasOccupied = this.#count > 0;
    this.#count = count;
    metrics.inMemory.set(count);
    if (count > 0 !== wasOccupied) onOccupied?.(count > 0);
  }

  /** `isRetained`: perhaps no other process claims the shard, so what is known of its rooms is kept. */
  #lose(shard: number, isRetained: boolean): void {
    const rooms = this.#ofShard(shard);
    if (isRetained) {
      const retained = new Map(this.#retained.get(shard));
      for (const { evidence } of rooms) if (evidence) retained.set(evidence.code, evidence);
      this.#retained.set(shard, retained);
    } else this.#retained.delete(shard);
    for (const room of rooms) room.drop();
  }

  #untilIdle(shard: number): Promise<void> {
    const working = this.#ofShard(shard).filter(({ isWorking }) => isWorking);
    return new Promise((resolve) => {
      const cancel = this.#deps.timing.after(idleWaitMs, resolve);
      void Promise.all(working.map((room) => room.idle()))
        .then(cancel)
        .then(resolve);
    });
  }

  #restoreDeadline(code: string, due: number): void {
    const room = this.#find(code);
    if (room) room.arm(due);
    else this.#ticker.arm(code, due);
  }

  #fire(code: string): void {
    this.#find(code)?.disarm();
    void this.#tick(code);
  }

  async #tick(code: string): Promise<void> {
    const { kind, keys, redis, clock, leases } = this.#deps;
    const outcome = await this.deliver(code, kind.tick, "tick", noOrigin);
    if (outcome !== notOwner && outcome.ok) {
      this.#find(code)?.resumeWork();
    } else if (outcome !== notOwner && outcome.code === kind.notFound) {
      // The room expired, so its stored timer is obsolete.
      await redis.zrem(keys.due(shardOf(code)), code).catch(() => 0);
    } else if (leases.tokenOf(shardOf(code)) !== null) {
      // After the loss of the shard, its new owner has the timer.
      const isBroken = outcome !== notOwner && outcome.code === "server:error";
      this.#ticker.arm(code, clock.now() + (isBroken ? brokenRetryMs : retryMs));
    }
  }

  #sweep(): void {
    const { kind, clock } = this.#deps;
    const windowMs = kind.limits.perSender?.windowMs ?? 0;
    for (const room of this.#all())
      if (room.rest(clock.now(), windowMs, idleMs)) this.#remove(room);
  }
}
