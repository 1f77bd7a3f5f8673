import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { Latencies } from "../latencies.ts";
import { nowMicros, readIds, readMarks } from "./mark.ts";

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
  /** How events are recognized: by the marks of the benchmark, or by the ids of real games. */
  checks: "marks" | "ids";
  /** Streams opened concurrently. */
  batch: number;
  /** Stop reading once the stream is ready. */
  isStuck?: boolean;
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
  socket: Socket | null;
  /** Newest event number it received. */
  last: number;
  rest: string;
}

const returnLimitMs = 20_000;
/** Time for stalled streams to read the rest. */
const drainMs = 5_000;
const listEvent = "event: lobbies.updated";

/** Streams over raw sockets; every event of every stream is checked. */
export class Reader {
  readonly latencies = new Latencies();
  /** From the start of the connection until the stream is ready. */
  readonly openings = new Latencies();
  delivered = 0;
  lists = 0;
  numbered = 0;
  readonly faults: Faults = { lost: 0, doubled: 0, disordered: 0, closed: 0, refused: 0 };
  /** Called after a chunk with the first stream of each topic that advanced. */
  onProgress: () => void = () => undefined;
  #streams: Stream[] = [];
  readonly #leaders = new Map<string, Stream>();
  #options: OpenOptions | null = null;
  #stuck: Socket[] = [];

  /** Newest event number of the topic's first stream. */
  progressOf(topic: string): number {
    return this.#leaders.get(topic)?.last ?? 0;
  }

  async open(options: OpenOptions): Promise<{ ms: number }> {
    const added = options.streams.map((spec) => {
      const stream = { ...spec, socket: null, last: options.from?.[spec.topic] ?? 0, rest: "" };
      if (!options.isStuck && !this.#leaders.has(spec.topic)) this.#leaders.set(spec.topic, stream);
      return stream;
    });
    if (!options.isStuck) {
      this.#streams.push(...added);
      this.#options = options;
    }
    const started = performance.now();
    await this.#openAll(added, options, "");
    return { ms: performance.now() - started };
  }

  cut(): void {
    for (const stream of this.#streams) {
      stream.socket?.removeAllListeners("close").destroy();
      stream.socket = null;
      stream.rest = "";
    }
  }

  /** Reads the kernel buffers of stalled streams: those the server ended reach their end. */
  async cutStuck(): Promise<number> {
    const ended = this.#stuck.map(async (socket) => {
      socket.resume();
      if (!socket.closed) await once(socket, "close");
    });
    let left = ended.length;
    for (const one of ended) void one.then(() => (left -= 1));
    const until = performance.now() + drainMs;
    while (left > 0 && performance.now() < until)
      await new Promise((resolve) => setTimeout(resolve, 10));
    for (const socket of this.#stuck) socket.destroy();
    this.#stuck = [];
    return left;
  }

  /** Reconnects all streams at once with their last id; resolves when each has the events up to `finals`. */
  async return(finals: Record<string, number>): Promise<{ readyMs: number; completeMs: number }> {
    const options = this.#options;
    if (!options) throw new Error("nothing was open");
    const started = performance.now();
    const opening = this.#openAll(
      this.#streams,
      { ...options, readyText: null, batch: Infinity },
      "resume",
    );
    await opening;
    const readyMs = performance.now() - started;
    await this.#waitFor(finals, returnLimitMs);
    return { readyMs, completeMs: performance.now() - started };
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

  async #openAll(streams: Stream[], options: OpenOptions, mode: string): Promise<void> {
    let next = 0;
    const lane = async () => {
      for (let stream = streams[next++]; stream; stream = streams[next++])
        await this.#openOne(stream, options, mode === "resume");
    };
    const lanes = Math.min(options.batch, streams.length);
    await Promise.all(Array.from({ length: lanes }, lane));
  }

  #openOne(stream: Stream, options: OpenOptions, isReturn: boolean): Promise<void> {
    return new Promise((resolve) => {
      const startedMicros = nowMicros();
      const socket = connect(options.port, "127.0.0.1");
      stream.socket = socket;
      let head: string | null = "";
      const lastId = isReturn ? `Last-Event-ID: ${stream.last}\r\n` : "";
      const request = `GET ${stream.path} HTTP/1.1\r\nHost: bench\r\n${stream.headers}${lastId}\r\n`;
      socket.write(request);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        if (head === null && !options.isStuck) this.faults.closed += 1;
        if (head !== null) this.faults.refused += 1;
        resolve();
      });
      socket.on("data", (chunk: Buffer) => {
        const text = chunk.toString("latin1");
        if (head !== null) {
          head += text;
          if (!isReady(head, options.readyText)) return;
          if (!head.startsWith("HTTP/1.1 200")) return void socket.destroy();
          const body = head.slice(head.indexOf("\r\n\r\n"));
          head = null;
          this.openings.add(nowMicros() - startedMicros);
          resolve();
          if (options.isStuck) {
            this.#stuck.push(socket);
            return void socket.pause();
          }
          return this.#read(stream, body);
        }
        this.#read(stream, text);
      });
    });
  }

  #read(stream: Stream, text: string): void {
    if (text.includes(listEvent)) this.lists += 1;
    const all = stream.rest + text;
    if (this.#options?.checks === "ids") {
      stream.rest = readIds(all, (id) => {
        this.numbered += 1;
        if (stream.last === 0) stream.last = id;
        else this.#check(stream, id);
      });
      return;
    }
    const now = nowMicros();
    stream.rest = readMarks(all, (seq, sentMicros) => {
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
