/** Bytes of lines kept before they go out in one piece: each write wakes another thread. */
const capacity = 65_536;
/** Longest a line waits. */
const waitMs = 50;

/**
 * Gathers lines of plain text in one block of bytes. A stream that joins thousands of small strings has
 * to put each together again when it writes; here that work is a copy. Characters beyond Latin-1 must
 * be escaped already.
 */
export class LineBuffer {
  private readonly write: (text: string) => void;
  private readonly bytes = Buffer.allocUnsafe(capacity);
  private used = 0;

  constructor(write: (text: string) => void) {
    this.write = write;
  }

  add(line: string): void {
    if (this.used + line.length > capacity) this.flush();
    if (line.length > capacity) return this.write(line);
    if (this.used === 0) setTimeout(() => this.flush(), waitMs).unref();
    this.used += this.bytes.write(line, this.used, "latin1");
  }

  flush(): void {
    if (this.used === 0) return;
    this.write(this.bytes.toString("latin1", 0, this.used));
    this.used = 0;
  }
}
