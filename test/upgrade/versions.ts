import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { get, type ClientRequest } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import type { Redis } from "ioredis";
import { publishNodeDown, type LobbyCommand, type Reply } from "../../actors/index.ts";
import { lobbyKeyPrefix } from "../../actors/lobby/actor.ts";
import { shardCount, shardOf } from "../../actors/log/keys.ts";
import { silentLogger } from "../../server/platform/log/logger.ts";
import { codeAlphabet, codeLength } from "../../server/platform/text/room-codes.ts";
import { accept, nothingReceived, type ReceivedMessages } from "../faults/listener.ts";
import { eventually } from "../support/eventually.ts";
import { forked } from "../support/forked.ts";
import type { Order } from "./member.ts";
import { ownerKey } from "../support/lobby-keys.ts";

const files = {
  previous: new URL("./previous/parts.mjs", import.meta.url),
  present: new URL("./parts.ts", import.meta.url),
};

export type Version = keyof typeof files;

type MemberMessage = { n: number; answer: unknown } | { result: string };

/** A process that runs one version. */
export class Member {
  readonly version: Version;
  readonly nodeId: string;
  readonly url: string;
  /** Codes of lobbies whose results it has queued. */
  readonly results: string[] = [];
  isLeaving = false;
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (answer: unknown) => void>();
  #numOrders = 0;

  constructor(
    version: Version,
    child: ChildProcess,
    { nodeId, port }: { nodeId: string; port: number },
  ) {
    this.version = version;
    this.nodeId = nodeId;
    this.url = `http://127.0.0.1:${port}`;
    this.#child = child;
    child.on("message", (message: MemberMessage) => {
      if ("result" in message) return void this.results.push(message.result);
      this.#waiting.get(message.n)?.(message.answer);
      this.#waiting.delete(message.n);
    });
    // A caller waiting for a dead process asks another one.
    child.once("exit", () => this.#waiting.forEach((tell) => tell(null)));
  }

  /** Null if the process died before it answered. */
  async ask(code: string, command: LobbyCommand, key?: string): Promise<Reply | null> {
    const named = key === undefined ? {} : { key };
    return (await this.#order({ type: "ask", code, command, ...named })) as Reply | null;
  }

  async list(): Promise<string> {
    return (await this.#order({ type: "list" })) as string;
  }

  async drain(): Promise<void> {
    this.isLeaving = true;
    await this.#order({ type: "drain" });
    await this.end();
  }

  /** Killed, as detected by its primary. */
  async kill(redis: Redis): Promise<void> {
    this.isLeaving = true;
    await this.end();
    const { nodeId } = this;
    await publishNodeDown(redis, { keyPrefix: lobbyKeyPrefix, nodeId }, silentLogger);
  }

  async end(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill("SIGKILL");
    await once(this.#child, "exit");
  }

  #order(order: Order): Promise<unknown> {
    const n = (this.#numOrders += 1);
    if (!this.#child.connected) return Promise.resolve(null);
    return new Promise((resolve) => {
      this.#waiting.set(n, resolve);
      this.#child.send({ n, order });
    });
  }
}

export async function startMember(version: Version, redisUrl: string): Promise<Member> {
  const args = [redisUrl, files[version].href];
  const child = forked(new URL("./member.ts", import.meta.url), args);
  const exited = once(child, "exit").then(() => Promise.reject(new Error(`${version}: exited`)));
  const message = await Promise.race([once(child, "message"), exited]);
  const [ready] = message as [{ nodeId: string; port: number }];
  return new Member(version, child, ready);
}

export async function ownersOf(redis: Redis): Promise<string[]> {
  const keys = Array.from({ length: shardCount }, (_, shard) => ownerKey(shard));
  return (await redis.mget(keys)).map((owner) => owner?.split("|")[0] ?? "");
}

/** Resolves when each of these has its share of the lobbies. */
export async function shared(redis: Redis, members: readonly Member[]): Promise<void> {
  await eventually("the shards are distributed", async () => {
    const owners = await ownersOf(redis);
    const share = shardCount / members.length / 2;
    return members.every(({ nodeId }) => owners.filter((owner) => owner === nodeId).length > share);
  });
}

let numCodes = 0;

/** Codes of lobbies owned by this process. */
export async function codesOf(redis: Redis, owner: Member, count: number): Promise<string[]> {
  const owners = await ownersOf(redis);
  const codes: string[] = [];
  while (codes.length < count) {
    const code = codeOf(numCodes++);
    if (owners[shardOf(code)] === owner.nodeId) codes.push(code);
  }
  return codes;
}

function codeOf(n: number): string {
  let code = "";
  for (let rest = n; code.length < codeLength; rest = Math.floor(rest / codeAlphabet.length))
    code += codeAlphabet[rest % codeAlphabet.length];
  return code;
}

export interface Follower {
  received: ReceivedMessages;
  close(): void;
}

/** Address of a stream: `seat`, or for a spectator `public_at`, replaces a token's claims. */
export function streamOf({ url }: Member, code: string, query: Record<string, number>): string {
  const named = Object.entries(query).map(([name, value]) => `&${name}=${value}`);
  return `${url}/v1/hub?topic=/games/trivia/lobby/${code}${named.join("")}`;
}

const retryMs = 25;

/** A stream that reconnects to the process returned by `at`, with its last number. */
export function follow(at: () => Member, code: string, query: Record<string, number>): Follower {
  const received = nothingReceived();
  let isClosed = false;
  let connection: ClientRequest | null = null;

  async function connect(): Promise<void> {
    received.connections += 1;
    const headers = received.last === 0 ? {} : { "last-event-id": String(received.last) };
    const made = get(streamOf(at(), code, query), { agent: false, headers });
    connection = made;
    made.on("error", () => {});
    made.on("response", (response) => {
      let rest = "";
      response.on("error", () => {});
      response.setEncoding("utf8").on("data", (chunk: string) => {
        const parts = (rest + chunk).split("\n\n");
        rest = parts.pop() ?? "";
        for (const part of parts) if (!received.isEnded) accept(received, part.trimStart());
        if (received.isEnded) response.destroy();
      });
    });
    await new Promise((resolve) => made.once("close", resolve));
  }

  async function run(): Promise<void> {
    while (!isClosed && !received.isEnded) {
      await connect();
      await wait(retryMs);
    }
  }

  void run();
  return {
    received,
    close: () => {
      isClosed = true;
      connection?.destroy();
    },
  };
}
