import { get, type ClientRequest } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { accept, type ReceivedMessages } from "../../test/faults/listener.ts";
import { Times, type Summary } from "../load/histogram.ts";

export interface StreamResult {
  /** Connections that ended. */
  cuts: number;
  /** From the end of a connection to the first bytes of the next one. */
  back: Summary;
  /** Messages that are missing, came twice, or were announced as lost. */
  missed: number;
  doubled: number;
  gaps: number;
}

/** Delays of `EventSource`-like clients before the next attempt, drawn anew each time. */
const retryMs = { least: 100, spread: 400 };
/** The first bytes come at once; a stream without them is tried again. */
const silenceMs = 5_000;

/** Clients that follow a room each by an event stream, and reconnect with the number of the last message. */
export class Followers {
  readonly #all: Follower[] = [];
  #before = { missed: 0, doubled: 0, gaps: 0 };
  readonly counts = { cuts: 0, back: new Times() };

  /** Resolves when the stream has received its first snapshot. */
  async add(url: string, topic: string, token: string): Promise<void> {
    const follower = new Follower(`${url}/v1/hub?topic=${topic}`, token, this.counts);
    this.#all.push(follower);
    await follower.started;
  }

  get size(): number {
    return this.#all.length;
  }

  /** Events of all streams since the last call. */
  take(): StreamResult {
    const total = { missed: 0, doubled: 0, gaps: 0 };
    for (const { received } of this.#all) {
      total.missed += received.missed;
      total.doubled += received.doubled;
      total.gaps += received.gaps;
    }
    const { missed, doubled, gaps } = this.#before;
    this.#before = total;
    const { cuts, back } = this.counts;
    Object.assign(this.counts, { cuts: 0, back: new Times() });
    return {
      ...{ cuts, back: back.summary() },
      missed: total.missed - missed,
      doubled: total.doubled - doubled,
      gaps: total.gaps - gaps,
    };
  }

  /** Rooms whose streams have not all received the newest message that one of them has. */
  lagging(): number {
    const newest = new Map<string, number>();
    for (const { url, received } of this.#all)
      newest.set(url, Math.max(newest.get(url) ?? 0, received.last));
    return this.#all.filter(({ url, received }) => received.last < (newest.get(url) ?? 0)).length;
  }

  close(): void {
    for (const follower of this.#all) follower.close();
  }
}

class Follower {
  readonly url: string;
  readonly received: ReceivedMessages = {
    ...{ last: 0, messages: new Map(), connections: 0, doubled: 0, missed: 0, gaps: 0 },
    isEnded: false,
  };
  readonly started: Promise<void>;
  readonly #token: string;
  readonly #counts: Followers["counts"];
  readonly #markStarted: () => void;
  #request: ClientRequest | null = null;
  #cutAt: number | null = null;
  #isClosed = false;

  constructor(url: string, token: string, counts: Followers["counts"]) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.url = url;
    this.#token = token;
    this.#counts = counts;
    this.started = promise;
    this.#markStarted = resolve;
    void this.#run();
  }

  close(): void {
    this.#isClosed = true;
    this.#request?.destroy();
  }

  async #run(): Promise<void> {
    while (!this.#isClosed) {
      await this.#connect();
      if (this.#isClosed) return;
      if (this.#cutAt === null) {
        this.#cutAt = performance.now();
        this.#counts.cuts += 1;
      }
      await pause(retryMs.least + Math.random() * retryMs.spread);
    }
  }

  async #connect(): Promise<void> {
    const { last } = this.received;
    const made = get(this.url, {
      agent: false,
      headers: {
        authorization: `Bearer ${this.#token}`,
        ...(last === 0 ? {} : { "last-event-id": String(last) }),
      },
    });
    this.#request = made;
    const silence = setTimeout(() => made.destroy(), silenceMs);
    made.on("error", () => undefined);
    made.on("response", (response) => {
      response.on("error", () => undefined);
      if (response.statusCode !== 200) return void response.resume();
      let rest = "";
      response.setEncoding("utf8").on("data", (chunk: string) => {
        clearTimeout(silence);
        this.#isBack();
        const parts = (rest + chunk).split("\n\n");
        rest = parts.pop() ?? "";
        for (const part of parts) accept(this.received, part);
        // Only the numbers count here, and a run lasts long.
        this.received.messages.clear();
        if (this.received.last > 0) this.#markStarted();
      });
    });
    await new Promise((resolve) => made.once("close", resolve));
    clearTimeout(silence);
  }

  #isBack(): void {
    if (this.#cutAt === null) return;
    this.#counts.back.record(performance.now() - this.#cutAt);
    this.#cutAt = null;
  }
}
