type Argument = string | number;

/** What the runtime asks of a Redis connection: ioredis, or the model of the simulation. */
export interface Connection {
  evalsha(sha: string, keyCount: number, ...args: Argument[]): Promise<unknown>;
  eval(script: string, keyCount: number, ...args: Argument[]): Promise<unknown>;
  get(key: string): Promise<string | null>;
  /** Undefined where a node of a cluster did not answer; rejects when none did. */
  mget(keys: string[]): Promise<(string | null | undefined)[]>;
  hgetall(key: string): Promise<Record<string, string>>;
  hmget(key: string, ...fields: string[]): Promise<(string | null)[]>;
  zrange(key: string, start: string, stop: string): Promise<string[]>;
  zrange(key: string, start: string, stop: string, scores: "WITHSCORES"): Promise<string[]>;
  zrevrange(key: string, start: number, stop: number): Promise<string[]>;
  zrem(key: string, member: string): Promise<number>;
  /** Of a cluster that of every master that answers, one behind the other. */
  info(section: "replication"): Promise<string>;
  /** True on Redis Cluster: one script per shard, announcements at the node of their channel. */
  readonly isSharded?: boolean;
  /** Resolves to the number of receivers. */
  publish(channel: string, message: string): Promise<number>;
}

/** A connection that listens. */
export interface Listener {
  subscribe(...channels: string[]): Promise<unknown>;
  on(event: "message", hear: (channel: string, message: string) => void): unknown;
  /** Calls when a subscription holds again after it was lost: messages may have been missed. */
  onResumed(hear: () => void): unknown;
}

/** Apart from each other, because a large read must not delay the commits. */
export interface Connections {
  commits: Connection;
  control: Connection;
  subscriber: Listener;
  /** Tells when the connection goes, and when it is there again; `refused`: that nothing listens at the address. */
  watch(hear: (isUp: boolean) => void, refused: () => void): void;
  close(): void;
}
