import { connect } from "node:net";
import { Latencies } from "../latencies.ts";
import { nowMicros, readMarks } from "./mark.ts";

export interface StreamSpec {
  topic: string;
  path: string;
  /** Header lines, each with its line break. */
  headers: string;
}

export interface OpenOptions {
  port: number;
  streams: StreamSpec[];
  /** Newest event number of each topic; 0 by default. */
  from?: Record<string, number>;
  /** Text after the head that marks the stream as subscribed; without it the head suffices. */
  readyText: string | null;
  /** Streams opened concurrently. */
  batch: number;
}

export interface Faults {
  lost: number;
  doubled: number;
  disordered: number;
  /** Number of streams the server closed during the run. */
  closed: number;
  refused: number;
}

interface Stream extends StreamSpec {
  /** Newest event number it received. */
  last: number;
  rest: string;
}

/** Streams over raw sockets; every event of every stream is checked. */
export class Reader {
  readonly latencies = new Latencies();
  delivered = 0;
  readonly faults: Faults = { lost: 0, doubled: 0, disordered: 0, closed: 0, refused: 0 };
  /** Called after a chunk with the first stream of each topic that advanced. */
  onProgress: () => void = () => undefined;
  #streams: Stream[] = [];
  readonly #leaders = new Map<string, Stream>();

  /** Newest event number of the topic's first stream. */
  progressOf(topic: string): number {
    return this.#leaders.get(topic)?.last ?? 0;
  }

  async open(options: OpenOptions): Promise<{ ms: number }> {
    const added = options.streams.map((spec) => ({
      ...spec,
      last: options.from?.[spec.topic] ?? 0,
      rest: "",
    }));
    for (const stream of added)
      if (!this.#leaders.has(stream.topic)) this.#leaders.set(stream.topic, stream);
    this.#streams.push(...added);
    const started = performance.now();
    let next = 0;
    const lane = async () => {
      for (let stream = added[next++]; stream; stream = added[next++])
        await this.#openOne(stream, options);
    };
    await Promise.all(Array.from({ length: Math.min(options.batch, added.length) }, lane));
    return { ms: performance.now() - started };
  }

  /** Faults so far, and events that streams still lack after this time. */
  async settle(finals: Record<string, number>, waitMs: number): Promise<Faults> {
    const missing = await this.#waitFor(finals, waitMs);
    const { faults } = this;
    const result = { ...faults, lost: faults.lost + missing };
    Object.assign(faults, { lost: 0, doubled: 0, disordered: 0, closed: 0, refused: 0 });
    for (const stream of this.#streams)
      stream.last = Math.max(stream.last, finals[stream.topic] ?? 0);
    return result;
  }

  /** Waits until every stream has everything; returns the number of missing events. */
  async #waitFor(finals: Record<string, number>, waitMs: number): Promise<number> {
    const missing = () =>
      this.#streams.reduce(
        (sum, { topic, last }) => sum + Math.max(0, (finals[topic] ?? 0) - last),
        0,
      );
    const until = performance.now() + waitMs;
    while (missing() > 0 && performance.now() < until)
      await new Promise((resolve) => setTimeout(resolve, 10));
    return missing();
  }

  #openOne(stream: Stream, options: OpenOptions): Promise<void> {
    return new Promise((resolve) => {
      const socket = connect(options.port, "127.0.0.1");
      let head: string | null = "";
      socket.write(`GET ${stream.path} HTTP/1.1\r\nHost: bench\r\n${stream.headers}\r\n`);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        if (head === null) this.faults.closed += 1;
        else this.faults.refused += 1;
        resolve();
      });
      socket.on("data", (chunk: Buffer) => {
        const text = chunk.toString("latin1");
        if (head === null) return this.#read(stream, text);
        head += text;
        if (!isReady(head, options.readyText)) return;
        if (!head.startsWith("HTTP/1.1 200")) return void socket.destroy();
        const body = head.slice(head.indexOf("\r\n\r\n"));
        head = null;
        resolve();
        this.#read(stream, body);
      });
    });
  }

  #read(stream: Stream, text: string): void {
    const now = nowMicros();
    stream.rest = readMarks(stream.rest + text, (seq, sentMicros) => {
      this.delivered += 1;
      this.latencies.add(now - sentMicros);
      this.#check(stream, seq);
    });
    if (this.#leaders.get(stream.topic) === stream) this.onProgress();
  }

  #check(stream: Stream, seq: number): void {
    if (seq === stream.last + 1) stream.last = seq;
    else this.#fault(stream, seq);
  }

  #fault(stream: Stream, seq: number): void {
    if (seq === stream.last) this.faults.doubled += 1;
    else if (seq < stream.last) this.faults.disordered += 1;
    else {
      this.faults.lost += seq - stream.last - 1;
      stream.last = seq;
    }
  }
}

function isReady(head: string, readyText: string | null): boolean {
  const end = head.indexOf("\r\n\r\n");
  if (end < 0) return false;
  return readyText === null || !head.startsWith("HTTP/1.1 200") || head.indexOf(readyText, end) > 0;
}
