type Argument = string | number;

/** The Redis commands that the runtime uses; implemented by ioredis and by the model of the simulation. */
export interface Connection {
  evalsha(sha: string, keyCount: number, ...args: Argument[]): Promise<unknown>;
  eval(script: string, keyCount: number, ...args: Argument[]): Promise<unknown>;
  get(key: string): Promise<string | null>;
  /** Undefined where a cluster node did not reply; rejects if none did. */
  mget(keys: string[]): Promise<(string | null | undefined)[]>;
  hgetall(key: string): Promise<Record<string, string>>;
  hmget(key: string, ...fields: string[]): Promise<(string | null)[]>;
  zrange(key: string, start: string, stop: string): Promise<string[]>;
  zrange(key: string, start: string, stop: string, scores: "WITHSCORES"): Promise<string[]>;
  zrevrange(key: string, start: number, stop: number): Promise<string[]>;
  zscore(key: string, member: string): Promise<string | null>;
  lrange(key: string, start: number, stop: number): Promise<string[]>;
  /** The newest entries of a stream, newest first. */
  xrevrange(
    key: string,
    end: "+",
    start: "-",
    count: "COUNT",
    limit: number,
  ): Promise<[id: string, fields: string[]][]>;
  zrem(key: string, member: string): Promise<number>;
  /** On a cluster, the concatenated info of every master that replies. */
  info(section: "replication"): Promise<string>;
  /** True on Redis Cluster: one script per shard, announcements at the node of their channel. */
  readonly isSharded?: boolean;
  /** Resolves to the number of receivers. */
  publish(channel: string, message: string): Promise<number>;
}

/** A subscriber connection. */
export interface Listener {
  /**
   * Resolves once all subscriptions are active; called once. `onResumed`: a lost subscription is active again, and
   * messages may have been missed.
   */
  listen(
    channels: readonly string[],
    onMessage: (channel: string, message: string) => void,
    onResumed: () => void,
  ): Promise<unknown>;
}

/** Separate connections, because a large read must not delay commits. */
export interface Connections {
  commits: Connection;
  control: Connection;
  subscriber: Listener;
  /** Reports loss and return of the connection; `refused`: nothing listens at the address. */
  watch(onChange: (isUp: boolean) => void, refused: () => void): void;
  close(): void;
}
