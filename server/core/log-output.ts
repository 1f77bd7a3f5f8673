import { fstatSync } from "node:fs";
import { Socket } from "node:net";
import type { Writable } from "node:stream";
import { pino, type DestinationStream } from "pino";

/** Bytes that wait for whoever reads, in each process: a reader that stands still must cost no more. */
const maxWaitingBytes = 4 * 1024 * 1024;
/** Characters of lines that go out in one write. */
const batchLength = 16_384;
/** Longest a line waits for others, in milliseconds. */
const batchMs = 50;
let droppedBytes = 0;

/** Bytes of lines this process has dropped, because nobody took them from standard output. */
export const droppedLogBytes = (): number => droppedBytes;

const drop = (block: Buffer | string) => void (droppedBytes += Buffer.byteLength(block));

/** Where batches of lines go. */
interface Sink {
  /** False when whoever can wait with more had better wait until it is drained. */
  write(block: Buffer): boolean;
  onceDrained(work: () => void): void;
  /** Calls `done` when everything is written. */
  flush(done: (error?: Error) => void): void;
  /** Writes what is not written yet before it returns, where that is possible. */
  flushSync(): void;
}

/** Standard output of a process: its lines leave in batches, at most 50 ms late. */
export class LogOutput implements DestinationStream {
  private readonly sink: Sink;
  private batch = "";
  private timer: NodeJS.Timeout | null = null;

  constructor(sink: Sink) {
    this.sink = sink;
  }

  /** Takes whole lines. */
  write(lines: string): void {
    this.batch += lines;
    if (this.batch.length >= batchLength) return this.send();
    this.timer ??= setTimeout(() => this.send(), batchMs).unref();
  }

  /** Takes lines of another process; false when there is no room for more before `onceDrained`. */
  pass(lines: Buffer): boolean {
    return this.sink.write(lines);
  }

  onceDrained(work: () => void): void {
    this.sink.onceDrained(work);
  }

  /** Calls `done` when every line so far is written. */
  flush(done: (error?: Error) => void = () => undefined): void {
    this.send();
    this.sink.flush(done);
  }

  /** The logger asks for it before the process ends. */
  flushSync(): void {
    this.send();
    this.sink.flushSync();
  }

  /** Hands over the lines that wait. */
  send(): void {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
    const { batch } = this;
    this.batch = "";
    if (batch !== "") this.sink.write(Buffer.from(batch));
  }
}

/** Lines for a file descriptor; what does not fit into `maxWaiting` bytes is dropped and counted. */
export function openLogOutput(fd = 1, maxWaiting = maxWaitingBytes): LogOutput {
  const output = new LogOutput(openSink(fd, maxWaiting));
  process.on("beforeExit", () => output.send());
  process.on("exit", () => output.flushSync());
  return output;
}

function openSink(fd: number, maxWaiting: number): Sink {
  if (fstatSync(fd).isFile()) return fileSink(fd, maxWaiting);
  const stream =
    fd === process.stdout.fd ? process.stdout : new Socket({ fd, readable: false, writable: true });
  return streamSink(stream, maxWaiting);
}

/** A disk may make its writer wait, so another thread writes. */
function fileSink(fd: number, maxLength: number): Sink {
  // With a minimum of 0 the library would not say when a line is written.
  const file = pino.destination({ dest: fd, sync: false, minLength: 1, maxLength });
  let isOpen = true;
  file.on("drop", drop);
  // The library closes its output once the process has nothing left to do.
  file.on("close", () => (isOpen = false));
  return {
    write(block) {
      if (isOpen) file.write(block.toString());
      return true;
    },
    onceDrained: (work) => void file.once("drain", work),
    flush: (done) => file.flush(done),
    flushSync: () => void (isOpen && file.flushSync()),
  };
}

/**
 * A pipe takes what it has room for; the rest waits here, where a thread that waits for a reader would keep the
 * process from ending.
 */
function streamSink(stream: Writable, maxWaiting: number): Sink {
  let isGone = false;
  let waiting: (() => void)[] = [];
  const goOn = () => {
    const all = waiting;
    waiting = [];
    for (const work of all) work();
  };
  stream.on("drain", goOn);
  stream.on("error", () => {
    isGone = true;
    goOn();
  });
  return {
    write(block) {
      if (isGone || stream.writableLength + block.length > maxWaiting) drop(block);
      else stream.write(block);
      return isGone || !stream.writableNeedDrain;
    },
    onceDrained: (work) => void waiting.push(work),
    flush: (done) => void (isGone ? done() : stream.write("", () => done())),
    flushSync: () => undefined,
  };
}
