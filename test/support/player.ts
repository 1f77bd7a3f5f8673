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

/** A person with an identity, a seat in one lobby, and an event stream. */
export interface Player {
  readonly name: string;
  readonly accountId: number;
  readonly accessToken: string;
  seatId: number;
  lobbyToken: string;
  stream: EventStream | null;
  /** Calls the service; a well-formed call is retried if a worker dies. */
  call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer>;
  /** A call below the path of the player's lobby. */
  ask(code: string, action: string, body?: unknown): Promise<Answer>;
  listen(code: string): Promise<EventStream>;
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
  const all = Array.isArray(urls) ? urls : [urls];
  let turn = 0;

  async function send(
    method: string,
    path: string,
    body: unknown,
    headers: Record<string, string>,
  ): Promise<Answer> {
    const url = all[turn++ % all.length] ?? "";
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
    const json =
      text === ""
        ? {}
        : (JSON.parse(text) as {
            body?: Record<string, unknown>;
            flash?: { errors?: { code: string }[] };
          });
    return {
      status: response.status,
      body: json.body ?? {},
      code: json.flash?.errors?.[0]?.code ?? null,
      headers: response.headers,
    };
  }

  /**
   * The key makes the retry idempotent; a broken connection or a 503 does not tell whether it took effect.
   */
  async function sendSafely(
    method: string,
    path: string,
    body: unknown,
    headers: Record<string, string>,
  ): Promise<Answer> {
    const keyed = { "idempotency-key": `t-${process.pid}-${++commandCount}`, ...headers };
    for (const deadline = performance.now() + retryLimitMs; ; await wait(retryMs)) {
      const isLast = performance.now() > deadline;
      try {
        const answer = await send(method, path, body, keyed);
        if (answer.status !== 503 || isLast) return answer;
      } catch (error) {
        if (isLast) throw error;
      }
    }
  }

  const guest = await sendSafely("POST", "/v1/gateway/guest", {}, {});
  assert.equal(guest.status, 200, JSON.stringify(guest));
  const account = guest.body["player"] as { id: number };
  const player: Player = {
    name,
    accountId: account.id,
    accessToken: String(guest.body["access_token"]),
    seatId: 0,
    lobbyToken: "",
    stream: null,
    call: (method, path, body, headers = {}) =>
      sendSafely(method, path, body, { authorization: `Bearer ${player.accessToken}`, ...headers }),
    ask: (code, action, body) => {
      const method = action === "settings" ? "PATCH" : "POST";
      return sendSafely(method, `${lobbies}/${code}/${action}`, body, {
        "x-lobby-token": player.lobbyToken,
      });
    },
    async listen(code) {
      const answer = await player.ask(code, "token");
      assert.equal(answer.status, 204, JSON.stringify(answer));
      const token = answer.headers.get("x-hub-token") ?? "";
      player.stream = openStream(
        `${streamUrl ?? all[turn % all.length]}/v1/hub?topic=/games/trivia/lobby/${code}`,
        { token },
      );
      await player.stream.waitFor((frame) => frame.event === "lobby.snapshot", "snapshot");
      return player.stream;
    },
  };
  return player;
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
