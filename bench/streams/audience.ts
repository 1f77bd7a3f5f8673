import { Latencies } from "../latencies.ts";
import type { Peer } from "../peers/peer.ts";
import { startRemote, type Remote } from "../rpc.ts";
import type { PublishOptions, StreamCalls } from "./process.ts";
import type { Faults } from "./reader.ts";

export interface Counted {
  delivered: number;
  latencies: Latencies;
}

export interface Load {
  seconds: number;
  bytes: number;
  perSecond: number | null;
}

const numProcesses = 2;
/** Streams opened concurrently per process, below the listen backlogs of the servers. */
const openBatch = 100;
const settleMs = 10_000;

/**
 * The clients of one server in two processes, and its publisher in a third: a client that is awake because
 * it also publishes is cheaper to write to than one that waits. Only in a flood do the clients publish,
 * since they know their progress.
 */
export class Audience {
  readonly peer: Peer;
  readonly #remotes: Remote<StreamCalls>[];
  readonly #publisher: Remote<StreamCalls>;
  /** Newest number of each topic. */
  #finals: Record<string, number> = {};
  readonly #shares: string[][];
  readonly #topics: string[];

  private constructor(
    peer: Peer,
    publisher: Remote<StreamCalls>,
    remotes: Remote<StreamCalls>[],
    topics: string[],
  ) {
    this.peer = peer;
    this.#publisher = publisher;
    this.#remotes = remotes;
    this.#topics = topics;
    this.#shares = remotes.map((_, i) => topics.filter((__, n) => n % remotes.length === i));
  }

  static async start(peer: Peer, topics: string[]): Promise<Audience> {
    const file = new URL("./process.ts", import.meta.url);
    const start = () => startRemote<StreamCalls>(file);
    const [publisher, ...remotes] = await Promise.all([
      start(),
      ...Array.from({ length: numProcesses }, start),
    ]);
    return new Audience(peer, publisher, remotes, topics);
  }

  /** Opens streams of every topic; returns the time of the slower half in milliseconds. */
  async open(perTopic: number): Promise<number> {
    const { peer } = this;
    const opened = await this.#each("open", (i) => ({
      port: peer.port,
      readyText: peer.readyText,
      batch: openBatch,
      from: this.#finals,
      streams: this.#topicsOf(i).flatMap((topic) =>
        Array.from({ length: this.#shareOf(perTopic, i) }, (_, n) => peer.stream(topic, n)),
      ),
    }));
    return Math.max(...opened.map(({ ms }) => ms));
  }

  /** Resolves when everything is published. */
  async publish(load: Load): Promise<void> {
    const options = (topics: string[]): PublishOptions => ({
      ...load,
      seconds: topics.length === 0 ? 0 : load.seconds,
      target: this.peer.target,
      topics: Object.fromEntries(topics.map((topic) => [topic, this.#finals[topic] ?? 0])),
    });
    const results =
      load.perSecond === null
        ? await this.#each("publish", (i) => options(this.#shares[i] ?? []))
        : [await this.#publisher.call("publish", options(this.#topics))];
    for (const result of results) Object.assign(this.#finals, result);
  }

  begin(): Promise<unknown> {
    return this.#each("begin");
  }

  async counts(): Promise<Counted> {
    const all = await this.#each("counts");
    const latencies = new Latencies();
    for (const one of all) latencies.addPacked(one.latencies);
    return { delivered: all.reduce((total, one) => total + one.delivered, 0), latencies };
  }

  /** Faults after every stream had time to receive everything. */
  async settle(): Promise<Faults> {
    const all = await this.#each("settle", () => ({
      finals: this.#finals,
      waitMs: settleMs,
    }));
    return sumFaults(all);
  }

  async stop(): Promise<void> {
    await Promise.all([this.#publisher, ...this.#remotes].map((remote) => remote.stop()));
  }

  #each<N extends keyof StreamCalls>(
    name: N,
    argument?: (i: number) => Parameters<StreamCalls[N]>[0],
  ) {
    return Promise.all(this.#remotes.map((remote, i) => remote.call(name, argument?.(i))));
  }

  /** A single topic is read by both processes; several topics are divided among them. */
  #topicsOf(i: number): string[] {
    return this.#topics.length === 1 ? this.#topics : (this.#shares[i] ?? []);
  }

  #shareOf(perTopic: number, i: number): number {
    if (this.#topics.length > 1) return perTopic;
    return Math.floor(perTopic / numProcesses) + (i < perTopic % numProcesses ? 1 : 0);
  }
}

export function sumFaults(all: readonly Faults[]): Faults {
  const sum: Faults = { lost: 0, doubled: 0, disordered: 0, closed: 0, refused: 0 };
  for (const one of all)
    for (const key of ["lost", "doubled", "disordered", "closed", "refused"] as const)
      sum[key] += one[key];
  return sum;
}
