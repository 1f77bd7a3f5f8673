import { get, type ClientRequest, type IncomingMessage } from "node:http";
import { setTimeout as wait } from "node:timers/promises";

/**
 * Messages that one player received from one lobby, over all connections of a stream that is often
 * interrupted.
 */
export interface ReceivedMessages {
  /** Highest event number so far. */
  last: number;
  /** Number -> text of the message. */
  messages: Map<number, string>;
  connections: number;
  /** Numbers that came twice, that are missing although later ones came, or that were announced as lost. */
  doubled: number;
  missed: number;
  gaps: number;
  isEnded: boolean;
}

const minLifeMs = 500;
const spreadLifeMs = 2_000;
const retryMs = 50;
/** A frozen process accepts a connection and sends nothing. */
const firstBytesMs = 2_500;

export interface Listener {
  received: ReceivedMessages;
  /** Resolves at the first snapshot; earlier events are not received. */
  started: Promise<void>;
  /** Resolves when the event of the lobby's end is received. */
  ended: Promise<void>;
  close(): void;
}

/** What a listener has before its first message. */
export const nothingReceived = (): ReceivedMessages => ({
  last: 0,
  messages: new Map(),
  connections: 0,
  doubled: 0,
  missed: 0,
  gaps: 0,
  isEnded: false,
});

/** Follows a room of any kind and cuts its own connection every now and then; returns with the last id. */
export function listen(url: string, topic: string, token: string, random: () => number): Listener {
  const received = nothingReceived();
  let isClosed = false;
  let connection: ClientRequest | null = null;
  const { promise: started, resolve: markStarted } = Promise.withResolvers<void>();

  function read(response: IncomingMessage): void {
    if (response.statusCode !== 200) return void response.resume();
    let rest = "";
    response.setEncoding("utf8").on("data", (chunk: string) => {
      const parts = (rest + chunk).split("\n\n");
      rest = parts.pop() ?? "";
      for (const part of parts) if (!received.isEnded) accept(received, part);
      if (received.last > 0) markStarted();
      if (received.isEnded) response.destroy();
    });
  }

  async function connect(): Promise<void> {
    received.connections += 1;
    const made = get(`${url}/v1/hub?topic=${topic}`, {
      agent: false,
      headers: {
        authorization: `Bearer ${token}`,
        ...(received.last === 0 ? {} : { "last-event-id": String(received.last) }),
      },
    });
    connection = made;
    const cut = () => void made.destroy();
    const lifeMs = minLifeMs + random() * spreadLifeMs;
    const life = setTimeout(cut, lifeMs);
    // A client that receives nothing reconnects elsewhere; the first bytes come immediately.
    const silence = setTimeout(cut, firstBytesMs);
    made.on("error", () => {});
    made.on("response", (response) => {
      response.on("error", () => {});
      response.once("data", () => clearTimeout(silence));
      read(response);
    });
    await new Promise((resolve) => made.once("close", resolve));
    clearTimeout(life);
    clearTimeout(silence);
  }

  async function run(): Promise<void> {
    while (!isClosed && !received.isEnded) {
      await connect();
      if (!received.isEnded) await wait(retryMs);
    }
  }

  const close = () => {
    isClosed = true;
    connection?.destroy();
  };
  return { received, started, ended: run(), close };
}

/** Checks one frame against the previous ones. */
export function accept(received: ReceivedMessages, frame: string): void {
  const fields = new Map(
    frame.split("\n").map((line) => {
      const colon = line.indexOf(": ");
      return [line.slice(0, colon), line.slice(colon + 2)] as const;
    }),
  );
  const event = fields.get("event");
  if (event === undefined) return;
  // Of any kind of room.
  const what = event.slice(event.indexOf(".") + 1);
  if (what === "gap") received.gaps += 1;
  const id = fields.get("id");
  if (id === undefined) return;
  const seq = Number(id);
  const data = fields.get("data") ?? "";
  if (what === "snapshot") {
    // The first snapshot begins the history; any other replaces messages that could not be delivered.
    if (received.last > 0 && seq > received.last) received.missed += seq - received.last;
    received.isEnded ||= data.includes('"status":"finished"');
  } else {
    if (received.messages.has(seq) || seq <= received.last) received.doubled += 1;
    else received.missed += seq - received.last - 1;
    received.messages.set(seq, data);
    received.isEnded ||= what === "ended";
  }
  received.last = Math.max(received.last, seq);
}
