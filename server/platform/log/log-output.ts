import { pino, type DestinationStream } from "pino";

/** Buffered bytes per process while the stdout consumer stalls; beyond it new lines are dropped. */
const maxWaitingBytes = 4 * 1024 * 1024;
/** Characters of lines in one write. */
const batchLength = 16_384;
/** Longest delay of a line in a batch, in milliseconds. */
const batchMs = 50;
let droppedBytes = 0;

/** Bytes of lines this process has dropped because the stdout consumer stalled. */
export const droppedLogBytes = (): number => droppedBytes;

/** Standard output of a process: its lines leave in batches, at most 50 ms late. */
export class LogOutput implements DestinationStream {
  readonly #file: ReturnType<typeof pino.destination>;
  #batch = "";
  #timer: NodeJS.Timeout | null = null;
  #isOpen = true;
  #mayWait = true;

  /** Drops and counts lines beyond `maxLength` buffered bytes. */
  constructor(fd: number, maxLength: number) {
    // With a minimum of 0 the library would not say when a line is written.
    const sizes = { minLength: 1, maxLength, maxWrite: batchLength };
    const retryEAGAIN = () => this.#mayWait;
    this.#file = pino.destination({ dest: fd, sync: false, ...sizes, retryEAGAIN });
    this.#file.on("drop", (lines: string) => void (droppedBytes += Buffer.byteLength(lines)));
    // The consumer is gone, or the disk is full: waiting writers continue.
    this.#file.on("error", () => this.#file.emit("drain"));
    // pino closes its destination when the process has no work left.
    this.#file.on("close", () => (this.#isOpen = false));
  }

  /** Takes whole lines. */
  write(lines: string): void {
    this.#batch += lines;
    if (this.#batch.length >= batchLength) return this.send();
    this.#timer ??= setTimeout(() => this.send(), batchMs).unref();
  }

  /** Takes lines of another process; false when there is no room for more before `onceDrained`. */
  forward(lines: Buffer): boolean {
    // A closed destination returns nothing.
    return !this.#isOpen || this.#file.write(lines.toString()) !== false;
  }

  onceDrained(work: () => void): void {
    this.#file.once("drain", work);
  }

  /** Calls `done` when every line so far is written. */
  flush(done: (error?: Error) => void = () => undefined): void {
    this.send();
    this.#file.flush(done);
  }

  /** Writes as much as the consumer accepts without waiting; the logger calls it before the process exits. */
  flushSync(): void {
    this.send();
    this.#mayWait = false;
    try {
      if (this.#isOpen) this.#file.flushSync();
    } catch {
      // The consumer is gone.
    }
    this.#mayWait = true;
  }

  /** Flushes the batch to the destination. */
  send(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    const batch = this.#batch;
    this.#batch = "";
    if (batch !== "" && this.#isOpen) this.#file.write(batch);
  }

  /** Replaces the exit handler of pino, which would wait for the consumer. */
  end(): void {
    this.flushSync();
    this.#file.destroy();
  }
}

/**
 * Log output for a file descriptor. Reading `process.stdout.fd` switches a pipe to non-blocking writes: a thread
 * blocked in a write would keep the process from exiting.
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
