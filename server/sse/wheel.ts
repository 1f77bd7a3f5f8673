import type { EventStream } from "./stream.ts";

/** Parts of an interval, each with its share of the streams. */
const numSlots = 5;

/**
 * All streams of a process, in groups whose turn comes one after the other: looking at ten thousand
 * of them at once would hold up everything else, and so would their heartbeats.
 */
export class Wheel {
  private readonly slots = Array.from({ length: numSlots }, () => new Set<EventStream>());
  private readonly timer: NodeJS.Timeout;
  private next = 0;
  private filling = 0;

  /** `onTurn` gets every stream once in `intervalMs`; a revolution begins with slot 0. */
  constructor(
    intervalMs: number,
    onTurn: (streams: ReadonlySet<EventStream>, slot: number) => void,
  ) {
    const stepMs = Math.max(1, intervalMs / numSlots);
    this.timer = setInterval(() => {
      this.next = (this.next + 1) % numSlots;
      const streams = this.slots[this.next];
      if (streams) onTurn(streams, this.next);
    }, stepMs);
    this.timer.unref();
  }

  add(stream: EventStream): void {
    this.filling = (this.filling + 1) % numSlots;
    stream.slot = this.filling;
    this.slots[stream.slot]?.add(stream);
  }

  /** False when it was not there. */
  delete(stream: EventStream): boolean {
    return this.slots[stream.slot]?.delete(stream) ?? false;
  }

  all(): EventStream[] {
    return this.slots.flatMap((streams) => [...streams]);
  }

  stop(): void {
    clearInterval(this.timer);
  }
}
