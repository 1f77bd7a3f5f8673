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

/** Standard output of a process: its lines leave in batches, at most 50 ms late. */
export class LogOutput implements DestinationStream {
  private readonly file: ReturnType<typeof pino.destination>;
  private batch = "";
  private timer: NodeJS.Timeout | null = null;
  private isOpen = true;
  private mayWait = true;

  /** What does not fit into `maxLength` bytes is dropped and counted. */
  constructor(fd: number, maxLength: number) {
    // With a minimum of 0 the library would not say when a line is written.
    const sizes = { minLength: 1, maxLength, maxWrite: batchLength };
    const retryEAGAIN = () => this.mayWait;
    this.file = pino.destination({ dest: fd, sync: false, ...sizes, retryEAGAIN });
    this.file.on("drop", (lines: string) => void (droppedBytes += Buffer.byteLength(lines)));
    // Nobody reads any more, or the disk is full: who waits for room goes on.
    this.file.on("error", () => this.file.emit("drain"));
    // The library closes its output once the process has nothing left to do.
    this.file.on("close", () => (this.isOpen = false));
  }

  /** Takes whole lines. */
  write(lines: string): void {
    this.batch += lines;
    if (this.batch.length >= batchLength) return this.send();
    this.timer ??= setTimeout(() => this.send(), batchMs).unref();
  }

  /** Takes lines of another process; false when there is no room for more before `onceDrained`. */
  forward(lines: Buffer): boolean {
    // Nothing is returned where nobody reads any more.
    return !this.isOpen || this.file.write(lines.toString()) !== false;
  }

  onceDrained(work: () => void): void {
    this.file.once("drain", work);
  }

  /** Calls `done` when every line so far is written. */
  flush(done: (error?: Error) => void = () => undefined): void {
    this.send();
    this.file.flush(done);
  }

  /** Writes what the reader takes at once; the logger asks for it before the process ends. */
  flushSync(): void {
    this.send();
    this.mayWait = false;
    try {
      if (this.isOpen) this.file.flushSync();
    } catch {
      // Nobody reads.
    }
    this.mayWait = true;
  }

  /** Hands over the lines that wait. */
  send(): void {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
    const { batch } = this;
    this.batch = "";
    if (batch !== "" && this.isOpen) this.file.write(batch);
  }

  /** In place of what the library does when a process ends, which is to wait for a reader. */
  end(): void {
    this.flushSync();
    this.file.destroy();
  }
}

/**
 * Lines for a file descriptor. That of standard output is asked of `process.stdout`, which has a pipe refuse what it
 * has no room for: a thread that waits for a reader would keep the process from ending.
 */
export function openLogOutput(
  fd: number = process.stdout.fd,
  maxWaiting = maxWaitingBytes,
): LogOutput {
  const output = new LogOutput(fd, maxWaiting);
  process.on("beforeExit", () => output.send());
  process.prependListener("exit", () => output.end());
  return output;
}
