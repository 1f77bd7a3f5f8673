import assert from "node:assert/strict";
import { setTimeout as wait } from "node:timers/promises";
import { openStream, type EventStream, type Frame, type LobbyMessage } from "./event-stream.ts";

/** Response of a call: status, the `body` of the envelope, its first error and the headers. */
export interface Answer {
  status: number;
  body: Record<string, unknown>;
  code: string | null;
  headers: Headers;
}

const lobbies = "/v1/games/trivia/lobbies";
/** A worker's death may take seconds to be noticed, and longer on a busy machine. */
const retryLimitMs = 60_000;
const retryMs = 20;
let commandCount = 0;

/**
 * Creates a guest. `urls` are addresses of the service; calls are spread over the workers, streams use
 * `streamUrl`.
 */
export async function newPlayer(
  urls: string | string[],
  name: string,
  streamUrl?: string,
): Promise<Player> {
  const addresses = Array.isArray(urls) ? urls : [urls];
  const calls = new Calls(addresses);
  const guest = await calls.send("POST", "/v1/gateway/guest", {}, {});
  assert.equal(guest.status, 200, JSON.stringify(guest));
  return new Player(name, calls, guest, streamUrl);
}

/** Calls to the addresses of a service, one after another. */
class Calls {
  readonly #urls: readonly string[];
  #count = 0;

  constructor(urls: readonly string[]) {
    this.#urls = urls;
  }

  get nextUrl(): string {
    return this.#urls[this.#count % this.#urls.length] ?? "";
  }

  /**
   * Sends a call, again after a broken connection or a 503. The key makes the retry idempotent, because
   * neither shows whether the call took effect.
   */
  async send(
    method: string,
    path: string,
    body: unknown,
    headers: Record<string, string>,
  ): Promise<Answer> {
    const keyed = { "idempotency-key": `t-${process.pid}-${++commandCount}`, ...headers };
    for (const deadline = performance.now() + retryLimitMs; ; await wait(retryMs)) {
      const isLast = performance.now() > deadline;
      try {
        const answer = await this.#sendOnce(method, path, body, keyed);
        if (answer.status !== 503 || isLast) return answer;
      } catch (error) {
        if (isLast) throw error;
      }
    }
  }

  async #sendOnce(
    method: string,
    path: string,
    body: unknown,
    headers: Record<string, string>,
  ): Promise<Answer> {
    const url = this.nextUrl;
    this.#count++;
    // A new connection per call, so that calls are spread over the workers.
    const response = await fetch(url + path, {
      method,
      headers: {
        connection: "close",
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const json = (text === "" ? {} : JSON.parse(text)) as {
      body?: Record<string, unknown>;
      flash?: { errors?: { code: string }[] };
    };
    return {
      status: response.status,
      body: json.body ?? {},
      code: json.flash?.errors?.[0]?.code ?? null,
      headers: response.headers,
    };
  }
}

/** A person with an identity, a seat in one lobby, and an event stream. */
export class Player {
  readonly name: string;
  readonly accountId: number;
  readonly accessToken: string;
  seatId = 0;
  lobbyToken = "";
  stream: EventStream | null = null;
  readonly #calls: Calls;
  readonly #streamUrl: string | undefined;

  constructor(name: string, calls: Calls, guest: Answer, streamUrl: string | undefined) {
    this.name = name;
    this.accountId = (guest.body["player"] as { id: number }).id;
    this.accessToken = String(guest.body["access_token"]);
    this.#calls = calls;
    this.#streamUrl = streamUrl;
  }

  /** Calls the service; a well-formed call is retried if a worker dies. */
  call(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const authorization = `Bearer ${this.accessToken}`;
    return this.#calls.send(method, path, body, { authorization, ...headers });
  }

  /** A call below the path of the player's lobby. */
  ask(code: string, action: string, body?: unknown): Promise<Answer> {
    const method = action === "settings" ? "PATCH" : "POST";
    const headers = { "x-lobby-token": this.lobbyToken };
    return this.#calls.send(method, `${lobbies}/${code}/${action}`, body, headers);
  }

  async listen(code: string): Promise<EventStream> {
    const answer = await this.ask(code, "token");
    assert.equal(answer.status, 204, JSON.stringify(answer));
    const token = answer.headers.get("x-hub-token") ?? "";
    const url = this.#streamUrl ?? this.#calls.nextUrl;
    this.stream = openStream(`${url}/v1/hub?topic=/games/trivia/lobby/${code}`, { token });
    await this.stream.waitFor((frame) => frame.event === "lobby.snapshot", "snapshot");
    return this.stream;
  }
}

/** Takes a seat and stores its credential. */
export async function createLobby(
  host: Player,
  settings: Record<string, unknown>,
): Promise<string> {
  const created = await host.call("POST", lobbies, { hostName: host.name, ...settings });
  assert.equal(created.status, 201, JSON.stringify(created));
  storeSeat(host, created);
  return (created.body["lobby"] as { code: string }).code;
}

export async function joinLobby(player: Player, code: string): Promise<void> {
  const joined = await player.call("POST", `${lobbies}/${code}/join`, { name: player.name });
  assert.equal(joined.status, 201, JSON.stringify(joined));
  storeSeat(player, joined);
}

function storeSeat(player: Player, answer: Answer): void {
  player.seatId = (answer.body["player"] as { id: number }).id;
  player.lobbyToken = String(answer.body["player_token"]);
}

/** The lobby messages of a stream, in order of arrival. */
export const messagesOf = (stream: EventStream): LobbyMessage[] =>
  stream.frames.map((frame: Frame) => frame.data as LobbyMessage);

/** Fails unless the numbers increase by one, without gap or repeat, from the first snapshot on (HUB-03). */
export function assertGapless(stream: EventStream, who: string): void {
  let expected: number | null = null;
  for (const message of messagesOf(stream)) {
    if (message.type === "lobby.gap") assert.fail(`${who} received lobby.gap`);
    if (message.type === "lobby.snapshot") {
      assert.ok(
        expected === null || message.seq >= expected - 1,
        `${who}: a snapshot is older than the last message`,
      );
      expected = message.seq + 1;
      continue;
    }
    assert.equal(message.seq, expected, `${who}: ${message.type} out of order`);
    expected = message.seq + 1;
  }
}
