import type { CommitFollower } from "../../server/platform/room-source.ts";
import { gapMark } from "./ledger.ts";
import type { ModelRedis } from "./model-redis.ts";
import { eventStreamKey } from "../support/lobby-keys.ts";

/** What a follower sees of the world. */
interface Surroundings {
  readonly redis: ModelRedis;
  readonly hasLost: boolean;
  ownerOf(code: string): string | null;
  ensure(holds: boolean, invariant: string, facts: () => string): void;
}

/** Follows one lobby in one worker, like the topic of a stream: from its commits, or else from Redis. */
export class Follower implements CommitFollower {
  readonly #world: Surroundings;
  readonly #code: string;
  readonly #worker: string;
  /** Number of the last message that the worker has sent to its streams. */
  #last = 0;
  #isHere = false;

  constructor(world: Surroundings, code: string, worker: string) {
    this.#world = world;
    this.#code = code;
    this.#worker = worker;
  }

  onSource(isHere: boolean): void {
    this.#isHere = isHere;
    // A topic reads the messages that it lacks.
    if (isHere) this.#last = this.#newest();
  }

  onCommitted(seq: number, text: string): void {
    const { hasLost } = this.#world;
    this.#ensure(
      hasLost ||
        this.#stored().some(([id, message]) => id === seq && message === `${seq}\n${text}`),
      "nothing shown before it is stored",
      `was sent ${seq}`,
    );
    if (seq <= this.#last) return;
    const isNext = seq === this.#last + 1 || text.includes(gapMark);
    this.#ensure(isNext, "streams miss no message", `was sent ${seq} after ${this.#last}`);
    this.#last = seq;
  }

  /** Once every worker knows the owners: a follower of this worker's commits has all messages of its owner. */
  checkSource(): void {
    if (!this.#isHere) return;
    const owner = this.#world.ownerOf(this.#code);
    const isOwner = owner === this.#worker;
    this.#ensure(
      isOwner,
      "streams follow the owner",
      `follows its own worker, the owner is ${owner}`,
    );
    this.#ensure(
      this.#last >= this.#newest(),
      "streams miss no message",
      `has ${this.#last} of ${this.#newest()}`,
    );
  }

  #stored(): readonly [id: number, message: string][] {
    return this.#world.redis.streams.get(eventStreamKey(this.#code)) ?? [];
  }

  #newest(): number {
    return this.#stored().at(-1)?.[0] ?? 0;
  }

  #ensure(holds: boolean, invariant: string, fact: string): void {
    const facts = () => `the follower of ${this.#code} in ${this.#worker} ${fact}`;
    this.#world.ensure(holds, invariant, facts);
  }
}
