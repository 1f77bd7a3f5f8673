import type { Logger } from "../../server/platform/log/logger.ts";
import type { Leases } from "../cluster/leases.ts";
import type { AnyKind } from "../kind.ts";
import type { Rooms } from "../rooms.ts";
import type { Router } from "../router.ts";
import type { BaseEvent, BaseState, IndexRules } from "../rules.ts";
import type { Timing } from "../timing.ts";
import type { Connection } from "./connection.ts";
import { IndexRepair } from "./index-repair.ts";
import { shardOf } from "./keys.ts";
import { RoomIndex } from "./room-index.ts";

export interface IndexKeeperDeps {
  kind: AnyKind;
  redis: Connection;
  timing: Timing;
  log: Logger;
  leases: Pick<Leases, "tokenOf" | "acquired">;
  rooms: Pick<Rooms, "committed" | "doubted" | "stateOf">;
  router: Pick<Router, "ask">;
}

/** Keeps the public list of a kind equal to its rooms: after each commit, and by repairs where that failed. */
export class IndexKeeper {
  readonly #deps: IndexKeeperDeps;
  readonly #index: RoomIndex;
  readonly #repair: IndexRepair;

  constructor(rules: IndexRules<BaseState, BaseEvent>, deps: IndexKeeperDeps) {
    this.#deps = deps;
    const { redis, timing, log, leases, rooms } = deps;
    this.#index = new RoomIndex(redis, rules);
    this.#repair = new IndexRepair({
      timing,
      codesIn: (shards) => this.#index.codesIn(shards),
      repair: (code) => this.#repairEntry(code),
      onFailure: (error) => {
        const facts = { event: "index_repair_failed", reason: String(error) };
        log.warn(facts, "index not repaired, retrying");
      },
    });
    rooms.committed.on((code, state, events) => this.#update(code, state, events));
    rooms.doubted.on((code) => this.#repair.queue(code));
    leases.acquired.on((shard) => this.#repair.claim(shard));
  }

  /** JSON array as text, newest first. */
  read(now: number): Promise<string> {
    return this.#index.read(now);
  }

  stop(): void {
    this.#repair.stop();
  }

  #update(code: string, state: BaseState, events: readonly BaseEvent[]): Promise<void> | null {
    const written = this.#index.update(code, state, events);
    return (
      written?.catch((error: unknown) => {
        this.#repair.queue(code);
        throw error;
      }) ?? null
    );
  }

  /** The new owner of a shard checks its entries. */
  async #repairEntry(code: string): Promise<void> {
    const { kind, leases, rooms, router } = this.#deps;
    const isOurs = () => leases.tokenOf(shardOf(code)) !== null;
    if (!isOurs()) return;
    const reply = await router.ask(code, kind.read);
    if (!isOurs()) return;
    if (!reply.ok && reply.code === kind.notFound) return this.#index.remove(code);
    if (!reply.ok) throw new Error(`${code}: ${reply.code}`);
    const state = await rooms.stateOf(code);
    if (state) return this.#index.refresh(code, state);
    if (isOurs()) throw new Error(`${code}: read again`);
  }
}
