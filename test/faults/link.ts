import type { Choices } from "../support/random.ts";
import type { ModelRedis } from "./model-redis.ts";
import type { Place, Timeline } from "./timeline.ts";

/** Probabilities of what happens to messages between workers. */
export interface MessageFaults {
  lost: number;
  doubled: number;
  late: number;
}

/** A subscriber of a channel. */
export interface ChannelSubscriber {
  deliver(channel: string, message: string): void;
}

export interface Network {
  readonly timeline: Timeline;
  readonly random: Choices;
  readonly redis: ModelRedis;
  isUp: boolean;
  /** Everything happens immediately while the world is set up. */
  isInstant: boolean;
  messages: MessageFaults;
  readonly subscribers: Map<string, Set<ChannelSubscriber>>;
  injected: number;
}

interface Request {
  run: () => unknown;
  resolve: (value: never) => void;
  reject: (error: Error) => void;
}

export const latency = ({ random }: Network) => random.between(5, 60) / 100;
/**
 * Like the real connections: each reconnect waits 50 ms longer, and every second one fails the pending
 * requests.
 */
const retryMs = (attempt: number) => Math.min(50 * attempt, 500);

/**
 * One connection of a process. Like ioredis with our options, it refuses requests while disconnected,
 * resends pending requests if the first reconnect succeeds, and fails them if not.
 */
export class Link {
  readonly #net: Network;
  readonly #place: Place;
  readonly #onReady: () => void;
  readonly #onRefused: () => void;
  #waiting: Request[] = [];
  #isReady = true;
  #generation = 0;
  /** Requests of earlier connections never arrive. */
  #oldestArriving = 0;
  #lastArrival = 0;
  #lastReply = 0;

  constructor(
    net: Network,
    place: Place,
    onReady: () => void = () => {},
    onRefused: () => void = () => {},
  ) {
    this.#net = net;
    this.#place = place;
    this.#onReady = onReady;
    this.#onRefused = onRefused;
  }

  request<T>(run: () => T): Promise<T> {
    if (this.#net.isInstant) return Promise.resolve(run());
    if (!this.#isReady) return Promise.reject(new Error("the connection is not writable"));
    return new Promise<T>((resolve, reject) => {
      const request = { run, resolve: resolve as (value: never) => void, reject };
      this.#waiting.push(request);
      this.#send(request);
    });
  }

  /** The connection breaks; requests already sent may still arrive. */
  cut(arrivesAnyway: boolean): void {
    if (!this.#isReady) return;
    this.#isReady = false;
    this.#generation += 1;
    if (!arrivesAnyway) this.#oldestArriving = this.#generation;
    this.#reconnect(1);
  }

  /** The network is slow: nothing arrives for this long, and the order is preserved. */
  stall(ms: number): void {
    this.#lastArrival = Math.max(this.#lastArrival, this.#net.timeline.now + ms);
  }

  /** Requests of a killed process may be lost with it. */
  drop(): void {
    this.#oldestArriving = this.#generation + 1;
  }

  #send(request: Request): void {
    const net = this.#net;
    const generation = this.#generation;
    this.#lastArrival = Math.max(this.#lastArrival, net.timeline.now + latency(net));
    net.timeline.add(this.#lastArrival, null, () => {
      if (generation < this.#oldestArriving || !net.isUp) return;
      const settle = carryOut(request);
      if (!this.#place.isAlive) return;
      this.#lastReply = Math.max(this.#lastReply, net.timeline.now + latency(net));
      net.timeline.add(this.#lastReply, this.#place, () => {
        if (generation !== this.#generation) return;
        this.#waiting.shift();
        settle();
      });
    });
  }

  #reconnect(attempt: number): void {
    const { timeline } = this.#net;
    timeline.add(timeline.now + retryMs(attempt), this.#place, () => {
      if (this.#net.isUp) return this.#resume();
      this.#onRefused();
      if (attempt % 2 === 1) this.#fail();
      this.#reconnect(attempt + 1);
    });
  }

  #resume(): void {
    this.#isReady = true;
    for (const request of this.#waiting) this.#send(request);
    // Called before any request is answered.
    this.#onReady();
  }

  #fail(): void {
    const given = this.#waiting;
    this.#waiting = [];
    for (const { reject } of given) reject(new Error("the connection was lost"));
  }
}

function carryOut({ run, resolve, reject }: Request): () => void {
  try {
    const value = run();
    return () => resolve(value as never);
  } catch (error) {
    return () => reject(error instanceof Error ? error : new Error(String(error)));
  }
}
