import type { Connection, Connections, Listener } from "../../actors/runtime/connection.ts";
import type { Chance } from "./chance.ts";
import type { ModelRedis } from "./model-redis.ts";
import type { Place, Timeline } from "./timeline.ts";

/** What happens to messages between workers, as probabilities. */
export interface MessageFaults {
  lost: number;
  doubled: number;
  late: number;
}

export interface Network {
  readonly timeline: Timeline;
  readonly chance: Chance;
  readonly redis: ModelRedis;
  isUp: boolean;
  messages: MessageFaults;
  readonly ears: Map<string, Set<Ear>>;
  injected: number;
}

interface Request {
  run: () => unknown;
  resolve: (value: never) => void;
  reject: (error: Error) => void;
}

const latency = ({ chance }: Network) => chance.between(5, 60) / 100;
/** As the real connections do: wait 50 ms more with every attempt, give up what is open at every second one. */
const retryMs = (attempt: number) => Math.min(50 * attempt, 500);

/**
 * One connection of a process. Like ioredis with our options it refuses while it is away, sends again what was
 * not answered when the first attempt to reconnect succeeds, and fails it when not.
 */
class Link {
  readonly #net: Network;
  readonly #place: Place;
  readonly #onReady: () => void;
  #waiting: Request[] = [];
  #isReady = true;
  #generation = 0;
  /** Requests of earlier generations never arrive. */
  #oldestArriving = 0;
  #lastArrival = 0;
  #lastReply = 0;

  constructor(net: Network, place: Place, onReady: () => void = () => {}) {
    this.#net = net;
    this.#place = place;
    this.#onReady = onReady;
  }

  request<T>(run: () => T): Promise<T> {
    if (!this.#isReady) return Promise.reject(new Error("the connection is not writable"));
    return new Promise<T>((resolve, reject) => {
      const request = { run, resolve: resolve as (value: never) => void, reject };
      this.#waiting.push(request);
      this.#send(request);
    });
  }

  /** The connection breaks; what was sent may still arrive. */
  cut(arrivesAnyway: boolean): void {
    if (!this.#isReady) return;
    this.#isReady = false;
    this.#generation += 1;
    if (!arrivesAnyway) this.#oldestArriving = this.#generation;
    this.#reconnect(1);
  }

  /** What a killed process had sent may be lost with it. */
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
      if (attempt % 2 === 1) this.#fail();
      this.#reconnect(attempt + 1);
    });
  }

  #resume(): void {
    this.#isReady = true;
    for (const request of this.#waiting) this.#send(request);
    // Told before anything is answered.
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

/** The listening connection of a process. */
class Ear {
  readonly #net: Network;
  readonly #place: Place;
  readonly #link: Link;
  readonly #channels = new Set<string>();
  #hear: (channel: string, message: string) => void = () => {};
  #last = 0;

  constructor(net: Network, place: Place) {
    this.#net = net;
    this.#place = place;
    this.#link = new Link(net, place, () => this.#listen());
  }

  subscribe(channels: string[]): Promise<unknown> {
    return this.#link.request(() => {
      for (const channel of channels) this.#channels.add(channel);
      this.#listen();
    });
  }

  on(hear: (channel: string, message: string) => void): void {
    this.#hear = hear;
  }

  deliver(channel: string, message: string): void {
    const net = this.#net;
    const { chance, messages, timeline } = net;
    const times = chance.is(messages.lost) ? 0 : chance.is(messages.doubled) ? 2 : 1;
    if (times !== 1) net.injected += 1;
    for (let i = 0; i < times; i++) {
      const isLate = chance.is(messages.late);
      if (isLate) net.injected += 1;
      else this.#last = Math.max(this.#last, timeline.now + latency(net));
      const at = isLate ? timeline.now + chance.between(5, 1_500) : this.#last;
      timeline.add(at, this.#place, () => this.#hear(channel, message));
    }
  }

  cut(arrivesAnyway: boolean): void {
    for (const channel of this.#channels) this.#net.ears.get(channel)?.delete(this);
    this.#link.cut(arrivesAnyway);
  }

  close(): void {
    for (const channel of this.#channels) this.#net.ears.get(channel)?.delete(this);
    this.#link.drop();
  }

  #listen(): void {
    for (const channel of this.#channels) {
      const ears = this.#net.ears.get(channel) ?? new Set();
      this.#net.ears.set(channel, ears.add(this));
    }
  }
}

export type { Ear };

/** Hands a message to everyone who listens; the number of receivers. */
export function publish(net: Network, channel: string, message: string): number {
  const ears = net.ears.get(channel);
  if (!ears) return 0;
  for (const ear of ears) ear.deliver(channel, message);
  return ears.size;
}

function connectionOver(link: Link, redis: ModelRedis): Connection {
  const ask = <T>(run: () => T) => link.request(run);
  return {
    evalsha: (sha, keyCount, ...args) => ask(() => redis.evalsha(sha, keyCount, args)),
    eval: (lua, keyCount, ...args) => ask(() => redis.eval(lua, keyCount, args)),
    get: (key) => ask(() => redis.get(key)),
    mget: (keys) => ask(() => keys.map((key) => redis.get(key))),
    hgetall: (key) => ask(() => redis.hgetall(key)),
    hmget: (key, ...fields) => ask(() => fields.map((field) => redis.hget(key, field))),
    zrange: (key: string, _start: string, _stop: string, scores?: "WITHSCORES") =>
      ask(() => redis.zrange(key).flatMap(([member, at]) => (scores ? [member, `${at}`] : member))),
    zrevrange: (key, start, stop) =>
      ask(() =>
        redis
          .zrange(key)
          .map(([member]) => member)
          .reverse()
          .slice(start, stop + 1),
      ),
    zrem: (key, member) => ask(() => redis.zrem(key, member)),
    publish: (channel, message) => ask(() => redis.publish(channel, message)),
  };
}

export interface Wiring {
  connections: Connections;
  /** Breaks all connections of the process for a moment. */
  cut(arrivesAnyway: boolean): void;
  /** Ends them; `isLost` says that what is on its way never arrives. */
  end(isLost: boolean): void;
}

export function wire(net: Network, place: Place): Wiring {
  const commits = new Link(net, place);
  let hear = (_isUp: boolean) => {};
  const control = new Link(net, place, () => hear(true));
  const ear = new Ear(net, place);
  const subscriber: Listener = {
    subscribe: (...channels) => ear.subscribe(channels),
    on: (_event, hear) => ear.on(hear),
  };
  const end = (isLost: boolean) => {
    ear.close();
    if (!isLost) return;
    commits.drop();
    control.drop();
  };
  return {
    connections: {
      commits: connectionOver(commits, net.redis),
      control: connectionOver(control, net.redis),
      subscriber,
      watch(listen) {
        hear = listen;
      },
      close: () => end(false),
    },
    cut(arrivesAnyway) {
      for (const link of [commits, control, ear]) link.cut(arrivesAnyway);
      net.timeline.add(net.timeline.now, place, () => hear(false));
    },
    end,
  };
}
