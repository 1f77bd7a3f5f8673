/**
 * The trivia lobbies as seen from a browser: commands over HTTP, events over one stream.
 * It keeps no state besides what is handed in; the page on top decides what to show.
 *
 * @typedef {{ access_token: string, reclaim_token: string, expires_at_ms: number }} Guest
 * @typedef {{ code: string, token: string, playerId: number }} SeatKey
 * @typedef {{ id: number, name: string, is_host: boolean, score: number, streak: number,
 *   num_correct: number, is_connected: boolean, has_answered: boolean }} Player
 * @typedef {{ id: number, category: string, difficulty: string, question: string, index: number,
 *   payload: { choices: string[] }, started_at_ms: number, ends_at_ms: number }} Question
 * @typedef {{ player_id: number, selected_index: number, is_correct: boolean,
 *   points_earned: number, score: number, streak: number }} Result
 * @typedef {{ index: number, correct_index: number, explanation: string, correct_rate: number,
 *   results: Result[], closed_by: string }} Reveal
 * @typedef {{ code: string, host_name: string, category: string | null, timer: number,
 *   selected_categories: string[], difficulty: string | null, num_questions: number | null,
 *   status: "waiting" | "in_progress" | "finished", visibility: string, mode: "coop" | "versus",
 *   max_players: number, current_index: number, players: Player[], seq: number,
 *   current_question: Question | null, answered_player_ids: number[], reveal: Reveal | null,
 *   host_disconnect: { since_ms: number, ends_at_ms: number } | null,
 *   hub: { url: string, topic: string }, server_now_ms: number }} Lobby
 * @typedef {{ type: string, seq: number, at_ms: number, data: any }} Message
 * @typedef {{ index: number, choice: number, tookMs: number, key: string }} Choice sent again under
 *   the same key it counts once
 */

import { openStream } from "./stream.js";

const base = "/v1/games/trivia/lobbies";
const listTopic = "/games/trivia/lobbies";
const requestTimeoutMs = 25_000;
const maxTries = 3;

const messageNames = [
  "lobby.snapshot",
  "lobby.player_joined",
  "lobby.settings",
  "lobby.started",
  "lobby.answer",
  "lobby.pick",
  "lobby.reveal",
  "lobby.question",
  "lobby.host_disconnect",
  "lobby.player_removed",
  "lobby.ended",
  "lobby.gap",
];

/** A refusal of the service, or `network:unreachable` with status 0. */
export class ApiError extends Error {
  /** @param {number} status @param {string} code @param {string} message @param {Record<string, any>} params */
  constructor(status, code, message, params = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.params = params;
  }
}

/** The seat or the lobby is gone; asking again cannot help. @param {unknown} error */
const isFinal = (error) => error instanceof ApiError && [401, 403, 404].includes(error.status);

/** @param {number} ms */
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** `crypto.randomUUID` is missing where a phone opens the page by address, without https. */
export function randomKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * One request; answers the `body` of the envelope, or null without one.
 * @param {string} method @param {string} path
 * @param {{ body?: unknown, headers?: Record<string, string> }} options
 */
async function send(method, path, { body, headers = {} } = {}) {
  const type = body === undefined ? {} : { "Content-Type": "application/json" };
  /** @type {Response} */
  let response;
  try {
    response = await fetch(path, {
      method,
      headers: { ...type, ...headers },
      cache: "no-store",
      signal: AbortSignal.timeout(requestTimeoutMs),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  } catch {
    throw new ApiError(0, "network:unreachable", "The service cannot be reached.");
  }
  if (response.status === 204) return null;
  const answer = await response.json().catch(() => null);
  if (response.ok && answer) return answer.body ?? null;
  throw errorOf(response, answer);
}

/** @param {Response} response @param {any} answer */
function errorOf(response, answer) {
  const error = answer?.flash?.errors?.[0] ?? {};
  const violation = answer?.flash?.violations?.[0];
  const text = violation ? `${violation.propertyPath}: ${violation.title}` : error.message;
  const params = { ...error.params };
  params.retry_after ??= Number(response.headers.get("Retry-After")) || undefined;
  const code = error.code ?? "server:error";
  return new ApiError(response.status, code, text ?? response.statusText, params);
}

/**
 * The same request again while the service is out of reach for a moment. The key makes a repeat
 * of a command that did arrive harmless.
 * @param {string} method @param {string} path
 * @param {{ body?: unknown, headers?: Record<string, string> }} options
 */
async function sendSafely(method, path, { body, headers = {} } = {}, key = randomKey()) {
  const keyed = { ...headers, "Idempotency-Key": key };
  for (let attempt = 1; ; attempt++) {
    try {
      return await send(method, path, { body, headers: keyed });
    } catch (error) {
      const isPassing = error instanceof ApiError && [0, 503].includes(error.status);
      if (!isPassing || error.code === "generator:unavailable" || attempt === maxTries) throw error;
      await pause((error.params.retry_after ?? attempt) * 1000);
    }
  }
}

/**
 * A guest identity of this tab: made on first need, recovered when its access token has ended.
 * @param {{ load: () => Guest | null, save: (guest: Guest | null) => void }} store
 */
export function createIdentity(store) {
  /** @param {string | undefined} reclaimToken @returns {Promise<Guest>} */
  async function open(reclaimToken) {
    const body = reclaimToken === undefined ? {} : { reclaimToken };
    const session = await send("POST", "/v1/gateway/guest", { body });
    const guest = {
      access_token: session.access_token,
      reclaim_token: session.reclaim_token,
      expires_at_ms: Date.now() + (session.expires_in - 60) * 1000,
    };
    store.save(guest);
    return guest;
  }

  async function accessToken() {
    const known = store.load();
    if (known && known.expires_at_ms > Date.now()) return known.access_token;
    const guest = await open(known?.reclaim_token).catch((error) => {
      if (known && error instanceof ApiError && error.status === 401) return open(undefined);
      throw error;
    });
    return guest.access_token;
  }

  /**
   * Runs a call with the guest's token; once more with another guest when the token is refused.
   * @template T @param {(headers: Record<string, string>) => Promise<T>} call
   */
  async function as(call) {
    try {
      return await call({ Authorization: `Bearer ${await accessToken()}` });
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== "auth:token_invalid") throw error;
      store.save(null);
      return call({ Authorization: `Bearer ${await accessToken()}` });
    }
  }
  return { as };
}

/** @returns {Promise<{ name: string, num_questions: number }[]>} */
export async function readCategories() {
  return (await send("GET", "/v1/games/trivia/categories")).categories;
}

/** @param {any} taken @returns {{ seat: SeatKey, lobby: Lobby | null }} */
const seatOf = (taken, code = taken.lobby.code) => ({
  seat: { code, token: taken.player_token, playerId: taken.player.id },
  lobby: taken.lobby ?? null,
});

/** @param {ReturnType<typeof createIdentity>} identity @param {Record<string, unknown>} form */
export function createLobby(identity, form) {
  return identity.as(async (headers) =>
    seatOf(await sendSafely("POST", base, { body: form, headers })),
  );
}

/** @param {ReturnType<typeof createIdentity>} identity @param {string} code @param {string} name */
export function joinLobby(identity, code, name) {
  const path = `${base}/${encodeURIComponent(code)}/join`;
  return identity.as(async (headers) =>
    seatOf(await send("POST", path, { body: { name }, headers }), code),
  );
}

/** The calls of one seat; each names it by its own token, whatever other tabs are signed in as. @param {SeatKey} seat */
export function createSeat({ code, token }) {
  const path = `${base}/${encodeURIComponent(code)}`;
  const headers = { "X-Lobby-Token": token };
  /** @param {string} name @param {unknown} [body] @param {string} [key] */
  const command = (name, body, key) =>
    sendSafely("POST", `${path}/${name}`, { body, headers }, key);
  return {
    /** @returns {Promise<{ lobby: Lobby, player: Player | null }>} */
    read: () => send("GET", `${path}/status`, { headers }),
    start: () => command("start"),
    /** @param {Choice} chosen */
    pick: ({ index, choice, key }) => command("pick", { index, selected_index: choice }, key),
    /** @param {Choice} chosen */
    answer: ({ index, choice, tookMs, key }) =>
      command("answer", { index, selected_index: choice, time_taken_ms: tookMs }, key),
    /** @param {number} index */
    lock: (index) => command("lock", { index }),
    /** @param {number} index */
    next: (index) => command("next", { index }),
    reveal: () => send("POST", `${path}/reveal`),
    heartbeat: () => send("POST", `${path}/heartbeat`, { headers }),
    leave: () => command("leave"),
    end: () => command("end"),
    /** @param {number} playerId */
    kick: (playerId) => sendSafely("DELETE", `${path}/players/${playerId}`, { headers }),
    /** Sets the cookie that opens the event stream. */
    openHub: () => send("POST", `${path}/token`, { headers }),
  };
}

/**
 * @param {SeatKey} seat @param {string} topic
 * @param {{ onMessage: (message: Message) => void, onState: (isOpen: boolean) => void,
 *   onRefused: (error: ApiError) => void }} handlers
 */
export function watchLobby(seat, topic, handlers) {
  const prepare = createSeat(seat).openHub;
  return openStream({ topic, prepare, names: messageNames, isFinal, ...handlers });
}

/** @param {(lobbies: Lobby[]) => void} onLobbies @param {(isOpen: boolean) => void} onState */
export function watchPublicList(onLobbies, onState) {
  return openStream({
    topic: listTopic,
    prepare: () => Promise.resolve(),
    names: ["lobbies.updated"],
    onMessage: (message) => onLobbies(message.data.lobbies),
    onState,
    onRefused: () => onState(false),
    isFinal,
  });
}
