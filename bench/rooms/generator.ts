import { setTimeout as pause } from "node:timers/promises";
import { createRandom } from "../../test/support/random.ts";
import { Times, type Summary } from "../load/histogram.ts";
import { intendedArrivals } from "../load/shapes.ts";
import type { OpenRoom, RoomLink, RoomSpec } from "./links.ts";

export interface RunOptions {
  perSecond: number;
  seconds: number;
  seed: number;
}

export interface RunResult {
  commands: number;
  refused: number;
  /** From the intended time of a command to its response. */
  answers: Summary;
  /** From the intended time of a command to the last of its deliveries. */
  lastDeliveries: Summary;
  lost: number;
  doubled: number;
  disordered: number;
  closed: number;
}

/** A command in flight: when it was due, and how many subscribers have received its event. */
interface Pending {
  dueAt: number;
  deliveries: number;
}

interface Room {
  link: RoomLink;
  /** Newest sequence number of each subscriber. */
  last: number[];
  /** Sequence number before the first command of the run; event `base + n` belongs to command n. */
  base: number;
  commands: Pending[];
  numAnswers: number;
}

/** How long a run waits for outstanding responses and deliveries. */
const defaultSettleMs = 10_000;
const openAtOnce = 16;

/**
 * Sends commands to rooms at their intended times and checks every event of every subscriber: event n of a room
 * belongs to command n, arrives once and in order at each of them.
 */
export class RoomLoad {
  #rooms: Room[] = [];
  #answers = new Times();
  #lastDeliveries = new Times();
  #faults = { refused: 0, doubled: 0, disordered: 0, closed: 0 };
  readonly #settleMs: number;

  constructor({ settleMs = defaultSettleMs } = {}) {
    this.#settleMs = settleMs;
  }

  async open(port: number, specs: readonly RoomSpec[], openRoom: OpenRoom): Promise<void> {
    let next = 0;
    const lane = async () => {
      for (let n = next++; n < specs.length; n = next++) {
        const spec = specs[n];
        if (spec) this.#rooms[n] = await this.#openOne(spec.port ?? port, spec, openRoom);
      }
    };
    await Promise.all(Array.from({ length: openAtOnce }, lane));
  }

  async run({ perSecond, seconds, seed }: RunOptions): Promise<RunResult> {
    this.#answers = new Times();
    this.#lastDeliveries = new Times();
    this.#faults = { refused: 0, doubled: 0, disordered: 0, closed: 0 };
    for (const room of this.#rooms) {
      room.base = Math.max(0, ...room.last);
      room.commands = [];
      room.numAnswers = 0;
    }
    const commands = await this.#sendAll(perSecond, seconds, seed);
    const until = performance.now() + this.#settleMs;
    while (this.#missing() > 0 && performance.now() < until) await pause(5);
    return {
      commands,
      ...this.#faults,
      lost: this.#missing(),
      answers: this.#answers.summary(),
      lastDeliveries: this.#lastDeliveries.summary(),
    };
  }

  async #openOne(port: number, spec: RoomSpec, openRoom: OpenRoom): Promise<Room> {
    const room: Omit<Room, "link"> = {
      last: Array.from({ length: spec.streams }, () => 0),
      base: 0,
      commands: [],
      numAnswers: 0,
    };
    const link = await openRoom(port, spec, {
      onAnswer: (isOk) => this.#answered(room, isOk),
      onEvent: (stream, seq) => this.#delivered(room, stream, seq),
      onClosed: () => (this.#faults.closed += 1),
    });
    return Object.assign(room, { link });
  }

  /**
   * Timers have a resolution of a millisecond: all commands due by then are sent, and late ones keep their
   * due time.
   */
  async #sendAll(perSecond: number, seconds: number, seed: number): Promise<number> {
    const started = performance.now();
    const random = createRandom(seed + 1);
    let count = 0;
    for (const { atMs } of intendedArrivals({ shape: "poisson", perSecond, seconds }, seed)) {
      const dueAt = started + atMs;
      while (performance.now() < dueAt) await pause(Math.max(1, dueAt - performance.now()));
      const target = this.#rooms[Math.floor(random() * this.#rooms.length)];
      target?.commands.push({ dueAt, deliveries: 0 });
      target?.link.send();
      count += 1;
    }
    return count;
  }

  #answered(room: Omit<Room, "link">, isOk: boolean): void {
    const command = room.commands[room.numAnswers++];
    if (!isOk) this.#faults.refused += 1;
    if (command) this.#answers.record(performance.now() - command.dueAt);
  }

  #delivered(room: Omit<Room, "link">, stream: number, seq: number): void {
    const last = room.last[stream] ?? 0;
    if (seq <= last) this.#faults.doubled += 1;
    else if (last > 0 && seq !== last + 1) this.#faults.disordered += 1;
    room.last[stream] = Math.max(last, seq);
    const command = room.commands[seq - room.base - 1];
    if (!command) return;
    command.deliveries += 1;
    if (command.deliveries === room.last.length)
      this.#lastDeliveries.record(performance.now() - command.dueAt);
  }

  /** Outstanding deliveries of commands with or without a response. */
  #missing(): number {
    let sum = 0;
    for (const { commands, last } of this.#rooms)
      for (const { deliveries } of commands) sum += Math.max(0, last.length - deliveries);
    return sum;
  }
}
