import { noOrigin, type Origin } from "../server/platform/origin.ts";
import type { Leases } from "./cluster/leases.ts";
import { keyedId } from "./answers.ts";
import type { Reply } from "./contract.ts";
import { shardOf } from "./log/keys.ts";
import { notOwner, unavailable, type Outcome } from "./outcome.ts";
import type { Rooms } from "./rooms.ts";
import type { BaseCommand } from "./rules.ts";
import type { Shared } from "./shared.ts";
import type { WaitingCommands } from "./waiting-commands.ts";
import type { Remote } from "./wire/remote.ts";

export interface RouterDeps extends Shared {
  leases: Leases;
  rooms: Rooms;
  remote: Remote;
  waiting: WaitingCommands;
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
    const { timing, timings, waiting, metrics, newId, isOver } = this.#deps;
    const id = key === undefined ? newId() : keyedId(command.type, key);
    const startedAt = timing.elapsed();
    const deadline = startedAt + timings.timeoutMs;
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
    const owner = leases.liveOwnerOf(shardOf(code));
    if (owner === null) return notOwner;
    if (owner.nodeId === nodeId) return rooms.deliver(code, command, id, origin);
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
