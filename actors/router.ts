import type { RoomMetrics } from "../server/platform/metrics/room-metrics.ts";
import { noOrigin, type Origin } from "../server/platform/origin.ts";
import type { Leases } from "./cluster/leases.ts";
import { keyedId } from "./command-id.ts";
import type { Reply } from "./contract.ts";
import { shardOf } from "./log/keys.ts";
import { notOwner, unavailable, type Outcome } from "./outcome.ts";
import type { Rooms } from "./rooms.ts";
import type { BaseCommand } from "./rules.ts";
import type { Timing } from "./timing.ts";
import type { WaitingCommands } from "./waiting-commands.ts";
import type { Remote } from "./wire/remote.ts";

export interface RouterDeps {
  nodeId: string;
  leases: Pick<Leases, "tokenOf" | "liveOwnerOf">;
  rooms: Pick<Rooms, "deliver">;
  remote: Pick<Remote, "send">;
  waiting: Pick<WaitingCommands, "turn">;
  timing: Timing;
  /** How long a command waits for an owner of its room, in milliseconds (LOB-27). */
  timeoutMs: number;
  metrics: Pick<RoomMetrics, "command" | "commandSeconds">;
  /** Unique over all processes. */
  newId: () => string;
  /** True once no owner will come, because the whole service stops: waiting would delay that. */
  isOver: () => boolean;
}

/** Sends a command to its room: decided here, sent elsewhere, or waiting for an owner. */
export class Router {
  readonly #deps: RouterDeps;
  readonly #counters = new Map<string, { inc(): void }>();

  constructor(deps: RouterDeps) {
    this.#deps = deps;
  }

  /** While the owner changes or does not respond, the command id makes retries idempotent. */
  async ask(
    code: string,
    command: BaseCommand,
    key?: string,
    origin: Origin = noOrigin,
  ): Promise<Reply> {
    const { timing, timeoutMs, waiting, metrics, newId, isOver } = this.#deps;
    const id = key === undefined ? newId() : keyedId(command.type, key);
    const startedAt = timing.elapsed();
    const deadline = startedAt + timeoutMs;
    const mayWait = () => !isOver() && timing.elapsed() < deadline;
    let outcome = await this.#attempt(code, command, id, origin);
    while (outcome === notOwner && mayWait() && (await waiting.turn(shardOf(code), deadline)))
      outcome = await this.#attempt(code, command, id, origin);
    const reply = outcome === notOwner ? unavailable : outcome;
    metrics.commandSeconds.observe((timing.elapsed() - startedAt) / 1_000);
    this.#count(command.type, reply.ok ? "ok" : reply.code);
    return reply;
  }

  async #attempt(code: string, command: BaseCommand, id: string, origin: Origin): Promise<Outcome> {
    const { nodeId, leases, rooms, remote } = this.#deps;
    const shard = shardOf(code);
    if (leases.tokenOf(shard) !== null) return rooms.deliver(code, command, id, origin);
    const owner = leases.liveOwnerOf(shard);
    if (!owner || owner.nodeId === nodeId) return notOwner;
    return remote.send(owner.nodeId, code, command, id, origin);
  }

  /** The counter of each label pair is cached, because the lookup takes longer than the count. */
  #count(type: string, outcome: string): void {
    const key = `${type} ${outcome}`;
    let counter = this.#counters.get(key);
    if (counter === undefined) {
      counter = this.#deps.metrics.command(type, outcome);
      this.#counters.set(key, counter);
    }
    counter.inc();
  }
}
