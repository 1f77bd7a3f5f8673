import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { connect as connectSecurely } from "node:tls";
import {
  cutEverywhere,
  cutsName,
  fill,
  plain,
  rawRequests,
  smuggledTarget,
  type Outcome,
  type RawRequest,
} from "./requests.ts";

/** Outcome of one raw request. */
export interface ProbeResult {
  name: string;
  outcome: Outcome;
  /** Final statuses of the responses, and the state of the connection. */
  seen: string;
  isRight: boolean;
}

/** Pause between two packets, so that the server reads them apart. */
const packetPauseMs = 25;
/** Timeout of a response or a close; servers keep an unparsable head open for longer. */
const timeoutMs = 3_000;
/** A connection silent for this long has sent everything. */
const quietMs = 400;
/** Concurrent connections of each of the two lists. */
const parallel = 24;

/** Sends each raw request on its own connection; the results have the order of the list. */
export async function probe(target: URL): Promise<ProbeResult[]> {
  const [single, cuts] = await Promise.all([
    inParallel(rawRequests, (request) => probeOne(target, request)),
    probeCuts(target),
  ]);
  return [...single, cuts];
}

async function inParallel<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const next = items.entries();
  const worker = async () => {
    for (const [at, item] of next) results[at] = await work(item);
  };
  await Promise.all(Array.from({ length: parallel }, worker));
  return results;
}

async function probeOne(target: URL, request: RawRequest): Promise<ProbeResult> {
  const { name, outcome, pieces, answers = 1 } = request;
  const connection = await open(target);
  await connection.send(pieces);
  const isServed = outcome === "served";
  await connection.until(() => connection.isClosed || (isServed && numAnswers() >= answers));
  if (isServed && !connection.isClosed) {
    await connection.send([plain]);
    await connection.until(() => connection.isClosed || numAnswers() > answers);
  }
  connection.end();
  const statuses = statusesOf(connection.text);
  const seen = `${statuses.join(" ") || "no answer"}, ${connection.isClosed ? "closed" : "open"}`;
  const isSmuggled = connection.text.includes(smuggledTarget);
  const isRight = !isSmuggled && judge(outcome, statuses, answers, connection.isClosed);
  return { name, outcome, seen: isSmuggled ? `${seen}, smuggled` : seen, isRight };

  function numAnswers(): number {
    return statusesOf(connection.text).length;
  }
}

function judge(outcome: Outcome, statuses: number[], answers: number, isClosed: boolean): boolean {
  const isWell = (status: number) => status < 500;
  switch (outcome) {
    case "served":
      return statuses.length === answers + 1 && statuses.every(isWell) && !isClosed;
    case "last":
      return statuses.length === 1 && statuses.every(isWell) && isClosed;
    case "cut":
      return statuses.length <= 1 && isClosed;
    case "refused":
      return statuses.length <= 1 && statuses.every((status) => status === 400 || status === 505);
  }
}

async function probeCuts(target: URL): Promise<ProbeResult> {
  const request = fill(cutEverywhere, target.host);
  const cuts = Array.from({ length: request.length - 1 }, (_, at) => at + 1);
  const statuses = await inParallel(cuts, async (at) => {
    const connection = await open(target);
    await connection.send([request.slice(0, at), request.slice(at)]);
    await connection.until(() => connection.isClosed || statusesOf(connection.text).length > 0);
    connection.end();
    return statusesOf(connection.text)[0] ?? 0;
  });
  const lost = cuts.filter((_, at) => (statuses[at] ?? 0) >= 500 || statuses[at] === 0);
  const seen = lost.length === 0 ? "all served" : `${lost.length} of ${cuts.length} not served`;
  return { name: cutsName, outcome: "served", seen, isRight: lost.length === 0 };
}

const statusesOf = (text: string) =>
  [...text.matchAll(/HTTP\/1\.[01] (\d{3})/g)]
    .map((match) => Number(match[1]))
    .filter((status) => status >= 200);

class Connection {
  text = "";
  isClosed = false;
  readonly #socket: Socket;
  readonly #host: string;

  constructor(socket: Socket, host: string) {
    this.#socket = socket;
    this.#host = host;
    socket.setEncoding("latin1").setNoDelay(true);
    socket.on("data", (text: string) => (this.text += text));
    // A reset counts as a close.
    socket.on("error", () => (this.isClosed = true));
    socket.on("end", () => (this.isClosed = true));
    socket.on("close", () => (this.isClosed = true));
  }

  async send(pieces: readonly string[]): Promise<void> {
    for (const [at, piece] of pieces.entries()) {
      if (at > 0) await pause(packetPauseMs);
      if (!this.isClosed) this.#socket.write(fill(piece, this.#host), "latin1");
    }
  }

  /** Resolves when the condition holds and the connection is silent, or after the timeout. */
  async until(isEnough: () => boolean): Promise<void> {
    const giveUpAt = performance.now() + timeoutMs;
    while (performance.now() < giveUpAt) {
      const before = this.text.length;
      if (this.isClosed) return;
      await pause(isEnough() ? quietMs : packetPauseMs);
      if (isEnough() && this.text.length === before) return;
    }
  }

  end(): void {
    this.#socket.destroy();
  }
}

async function open(target: URL): Promise<Connection> {
  const isSecure = target.protocol === "https:";
  const host = target.hostname.replace(/^\[|\]$/g, "");
  const port = Number(target.port || (isSecure ? 443 : 80));
  const socket = isSecure ? connectSecurely({ host, port, servername: host }) : connect(port, host);
  await once(socket, isSecure ? "secureConnect" : "connect");
  return new Connection(socket, target.host);
}
