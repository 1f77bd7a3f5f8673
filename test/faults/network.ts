import type { Connection, Connections, Listener } from "../../actors/log/connection.ts";
import { latency, Link, type Network } from "./link.ts";
import type { ModelRedis } from "./model-redis.ts";
import type { Place } from "./timeline.ts";

/** The subscriber connection of a process. */
export class SubscriberConnection implements Listener {
  readonly #net: Network;
  readonly #place: Place;
  readonly #link: Link;
  readonly #channels = new Set<string>();
  #onMessage: (channel: string, message: string) => void = () => {};
  #resumed = () => {};
  #last = 0;

  constructor(net: Network, place: Place) {
    this.#net = net;
    this.#place = place;
    this.#link = new Link(net, place, () => {
      this.#listen();
      this.#resumed();
    });
  }

  listen(
    channels: readonly string[],
    onMessage: (channel: string, message: string) => void,
    onResumed: () => void,
  ): Promise<unknown> {
    this.#onMessage = onMessage;
    this.#resumed = onResumed;
    return this.#link.request(() => {
      for (const channel of channels) this.#channels.add(channel);
      this.#listen();
    });
  }

  deliver(channel: string, message: string): void {
    const net = this.#net;
    const { random, messages, timeline } = net;
    const times = random.is(messages.lost) ? 0 : random.is(messages.doubled) ? 2 : 1;
    if (times !== 1) net.injected += 1;
    for (let i = 0; i < times; i++) {
      const isLate = random.is(messages.late);
      if (isLate) net.injected += 1;
      else this.#last = Math.max(this.#last, timeline.now + latency(net));
      const at = isLate ? timeline.now + random.between(5, 1_500) : this.#last;
      timeline.add(at, this.#place, () => this.#onMessage(channel, message));
    }
  }

  cut(arrivesAnyway: boolean): void {
    for (const channel of this.#channels) this.#net.subscribers.get(channel)?.delete(this);
    this.#link.cut(arrivesAnyway);
  }

  close(): void {
    for (const channel of this.#channels) this.#net.subscribers.get(channel)?.delete(this);
    this.#link.drop();
  }

  #listen(): void {
    for (const channel of this.#channels) {
      const subscribers = this.#net.subscribers.get(channel) ?? new Set();
      this.#net.subscribers.set(channel, subscribers.add(this));
    }
  }
}

/** Delivers a message to all subscribers; returns their number. */
export function publish(net: Network, channel: string, message: string): number {
  const subscribers = net.subscribers.get(channel);
  if (!subscribers || net.isInstant) return 0;
  for (const subscriber of subscribers) subscriber.deliver(channel, message);
  return subscribers.size;
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
    // The simulation has no operators.
    lrange: async () => [],
    xrevrange: async () => [],
    zscore: (key, member) =>
      ask(
        () =>
          redis
            .zrange(key)
            .find(([name]) => name === member)?.[1]
            .toString() ?? null,
      ),
    zrem: (key, member) => ask(() => redis.zrem(key, member)),
    info: () => ask(() => redis.info()),
    publish: (channel, message) => ask(() => redis.publish(channel, message)),
  };
}

export interface Wiring {
  connections: Connections;
  /** Breaks all connections of the process for a moment. */
  cut(arrivesAnyway: boolean): void;
  /** Breaks the subscriber connection. */
  deafen(): void;
  /** Slows connections down: that of the commits, the other one, or both. */
  stall(which: "commits" | "control" | "both", ms: number): void;
  /** Closes them; with `isLost`, requests in flight never arrive. */
  end(isLost: boolean): void;
}

export function wire(net: Network, place: Place): Wiring {
  const commits = new Link(net, place);
  let onMessage = (_isUp: boolean) => {};
  let refused = () => {};
  const control = new Link(
    net,
    place,
    () => onMessage(true),
    () => refused(),
  );
  const subscriber = new SubscriberConnection(net, place);
  const end = (isLost: boolean) => {
    subscriber.close();
    if (!isLost) return;
    commits.drop();
    control.drop();
  };
  return {
    connections: {
      commits: connectionOver(commits, net.redis),
      control: connectionOver(control, net.redis),
      subscriber,
      watch(listen, onRefused) {
        onMessage = listen;
        refused = onRefused;
      },
      close: () => end(false),
    },
    cut(arrivesAnyway) {
      for (const link of [commits, control, subscriber]) link.cut(arrivesAnyway);
      net.timeline.add(net.timeline.now, place, () => onMessage(false));
    },
    deafen: () => subscriber.cut(false),
    stall(which, ms) {
      if (which !== "control") commits.stall(ms);
      if (which !== "commits") control.stall(ms);
    },
    end,
  };
}
