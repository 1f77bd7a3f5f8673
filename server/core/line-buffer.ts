/** Bytes of lines kept before they go out in one piece: each write wakes another thread. */
const capacity = 65_536;
/** Longest a line waits. */
const waitMs = 50;
/** A block that is fuller than this is given away whole; of one that is emptier the lines are copied. */
const worthGiving = capacity / 2;
/** Room for a line that is put together of parts. */
export const maxLineBytes = 2_048;

/** Takes whole lines; the block is its own from then on. */
export interface BlockOutput {
  /** False when whoever can wait with more had better wait until it is drained. */
  write(block: Buffer): unknown;
  onceDrained?(work: () => void): void;
  /** Calls `done` when everything is written. */
  flush?(done: (error?: Error) => void): void;
  /** Writes what is not written yet before it returns. */
  flushSync?(): unknown;
}

/** Writes the last so many decimal digits of a whole number. */
export function writeDigits(bytes: Uint8Array, from: number, value: number, digits: number): void {
  let rest = value;
  for (let at = from + digits - 1; at >= from; at--) {
    const next = Math.floor(rest / 10);
    bytes[at] = rest - next * 10 + 0x30;
    rest = next;
  }
}

/**
 * The lines of a process on their way out, gathered in one block of bytes. A line of every request is put
 * together here of its parts: as a string it would be a tree of a dozen strings first, and cost twice as much.
 */
export class LineBuffer {
  private readonly output: BlockOutput;
  private isTimed = false;
  private block = Buffer.allocUnsafeSlow(capacity);
  private used = 0;

  constructor(output: BlockOutput) {
    this.output = output;
  }

  /** Takes whole lines of any text. */
  write(text: string): void {
    // The most that UTF-8 makes of a string.
    if (text.length * 3 > capacity - this.used) this.send();
    if (text.length * 3 > capacity) return void this.output.write(Buffer.from(text));
    this.wake();
    this.used += this.block.write(text, this.used, "utf8");
  }

  /** Begins a line of at most `maxLineBytes`, which `bytes`, `ascii` and `integer` make up. */
  begin(): void {
    if (this.used + maxLineBytes > capacity) this.send();
    this.wake();
  }

  bytes(part: Uint8Array): void {
    this.block.set(part, this.used);
    this.used += part.length;
  }

  byte(code: number): void {
    this.block[this.used] = code;
    this.used += 1;
  }

  ascii(part: string): void {
    this.used += this.block.write(part, this.used, "latin1");
  }

  /** A whole number from 0 to 2^53-1 in decimal digits, at least so many of them. */
  integer(value: number, minDigits = 1): void {
    let digits = minDigits;
    for (let power = 10 ** minDigits; power <= value; power *= 10) digits += 1;
    writeDigits(this.block, this.used, value, digits);
    this.used += digits;
  }

  /** Takes lines that others put together; false when there is no room for more before `onceDrained`. */
  pass(lines: Buffer): boolean {
    return this.output.write(lines) !== false;
  }

  onceDrained(work: () => void): void {
    this.output.onceDrained?.(work);
  }

  /** Calls `done` when every line so far is written. */
  flush(done: (error?: Error) => void = () => undefined): void {
    this.send();
    if (this.output.flush) this.output.flush(done);
    else done();
  }

  /** The logger asks for it before the process ends. */
  flushSync(): void {
    this.send();
    this.output.flushSync?.();
  }

  /** Hands over the lines that wait. */
  send(): void {
    if (this.used === 0) return;
    const lines = this.block.subarray(0, this.used);
    const isGiven = this.used > worthGiving;
    this.used = 0;
    if (!isGiven) return void this.output.write(Buffer.copyBytesFrom(lines));
    this.block = Buffer.allocUnsafeSlow(capacity);
    this.output.write(lines);
  }

  private wake(): void {
    if (this.isTimed) return;
    this.isTimed = true;
    setTimeout(() => {
      this.isTimed = false;
      this.send();
    }, waitMs).unref();
  }
}
