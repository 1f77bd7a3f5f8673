import type { LobbyEvent, PlayerPick } from "./events.ts";
import { LobbyView, pathOf } from "./lobby-view.ts";
import type { CallOptions, SeatKey, StreamOptions, StreamState } from "./options.ts";
import { Picks } from "./picks.ts";
import {
  bodyOf,
  readHubToken,
  send,
  sendKeyed,
  startDeadlineMs,
  startTryMs,
  type Call,
  type Link,
} from "./request.ts";
import { linked } from "./timing.ts";
import type { AnswerResult, Lobby, SeatView, Settings } from "../generated/types.ts";

/** A heartbeat every half minute shows that the player is still present. */
const heartbeatMs = 30_000;

/** A seat in a lobby and its commands; every call is safe to repeat. */
export class Seat extends LobbyView {
  readonly key: SeatKey;
  readonly #pickState = new Picks();

  /** `headers`: of the response that granted the seat. */
  constructor(link: Link, key: SeatKey, lobby: Lobby | null = null, headers?: Headers) {
    super(link, key.code, lobby);
    this.key = key;
    if (headers) this.link.owner?.learn(headers);
    if (lobby) this.#pickState.follow(lobby);
  }

  /**
   * The picks of the open co-op question that are known from events and reads; empty in versus. A `lobby.snapshot`
   * contains none: after it they are complete once `read()` has returned.
   */
  get picks(): PlayerPick[] {
    return this.#pickState.list;
  }

  /**
   * Reads the lobby. `player` is null if the seat no longer exists; `picks` are those of an open co-op
   * question, later ones from events included.
   */
  async read(options?: CallOptions): Promise<SeatView> {
    const answer = await send(this.link, this.#call("GET", "/status"), options);
    const { lobby, player, picks } = bodyOf<SeatView>(answer);
    const now = this.take(lobby);
    if (picks) this.#pickState.take(lobby, picks);
    const isOpen = now.current_question !== null && now.reveal === null;
    return { lobby: now, player, ...(picks && isOpen ? { picks: this.picks } : {}) };
  }

  /** Host, in a waiting lobby. */
  settings(changes: Settings, options?: CallOptions): Promise<void> {
    return this.#tell(this.#call("PATCH", "/settings", changes), options);
  }

  /** Host; draws the questions, which may take 20 s. */
  start(options: CallOptions = {}): Promise<Lobby> {
    const call = { ...this.#call("POST", "/start"), tryMs: startTryMs };
    return this.#command(call, { deadlineMs: startDeadlineMs, ...options });
  }

  /** Versus. `index` names the question, so that a late repeat never answers another one. */
  async answer(
    choice: { index: number; selected_index: number; time_taken_ms: number },
    options?: CallOptions,
  ): Promise<AnswerResult> {
    const answer = await sendKeyed(this.link, this.#call("POST", "/answer", choice), options);
    return bodyOf<AnswerResult>(answer);
  }

  /** Co-op; can be changed until the host locks. */
  pick(choice: { index: number; selected_index: number }, options?: CallOptions): Promise<void> {
    return this.#tell(this.#call("POST", "/pick", choice), options);
  }

  /** Host, co-op: the picks become answers. */
  lock(index: number, options?: CallOptions): Promise<Lobby> {
    return this.#command(this.#call("POST", "/lock", { index }), options);
  }

  /** Host: advances from question `index`, closing it first if it is open. */
  next(index: number, options?: CallOptions): Promise<Lobby> {
    return this.#command(this.#call("POST", "/next", { index }), options);
  }

  /** Host: ends the game for everyone. */
  end(options?: CallOptions): Promise<Lobby> {
    return this.#command(this.#call("POST", "/end"), options);
  }

  /** Host: removes a player; with `ban` the player cannot return. */
  kick(playerId: number, options: CallOptions & { ban?: boolean } = {}): Promise<void> {
    const path = `/players/${playerId}${options.ban ? "?ban=true" : ""}`;
    return this.#tell(this.#call("DELETE", path), options);
  }

  leave(options?: CallOptions): Promise<void> {
    return this.#tell(this.#call("POST", "/leave"), options);
  }

  /** Requests the reveal of a question whose time is over. */
  async reveal(options?: CallOptions): Promise<void> {
    await send(this.link, this.#call("POST", "/reveal"), options);
  }

  async heartbeat(options?: CallOptions): Promise<void> {
    await send(this.link, this.#call("POST", "/heartbeat"), options);
  }

  /** Host of a finished lobby: the result sheet as comma-separated text. */
  async resultSheet(options?: CallOptions): Promise<string> {
    const call = { ...this.#call("GET", "/results?format=csv"), brings: "sheet" } as const;
    return (await send(this.link, call, options)).text;
  }

  /**
   * The events of the lobby; sends heartbeats while they are consumed. Ends after the end of the lobby, the
   * removal of this seat, or with the signal; throws if the service refuses permanently.
   */
  async *events(options: StreamOptions = {}): AsyncGenerator<LobbyEvent, void, undefined> {
    const { controller, unlink } = linked(options.signal);
    const { signal } = controller;
    const readToken = (call: CallOptions) =>
      readHubToken(this.link, this.#call("POST", "/token"), call);
    const isLast = (event: LobbyEvent) =>
      event.type === "lobby.player_removed" && event.data.player_id === this.key.playerId;
    const { onState: notify } = options;
    const onState = (state: StreamState) => {
      // After a long absence there may be little time left for the first heartbeat.
      if (state === "open") void this.#beat(signal);
      notify?.(state);
    };
    try {
      void this.#keepBeating(signal);
      yield* this.follow({ token: null, readToken }, { ...options, signal, onState }, isLast);
    } catch (error) {
      if (!options.signal?.aborted) throw error;
    } finally {
      controller.abort();
      unlink();
    }
  }

  async #keepBeating(signal: AbortSignal): Promise<void> {
    const { clock } = this.link;
    for (;;) {
      await clock.sleep(heartbeatMs, signal);
      if (signal.aborted) return;
      await this.#beat(signal);
    }
  }

  /** A refusal also appears on the stream; the next heartbeat replaces a missed one. */
  async #beat(signal: AbortSignal): Promise<void> {
    await this.heartbeat({ signal, deadlineMs: heartbeatMs }).catch(() => undefined);
  }

  protected override take(lobby: Lobby): Lobby {
    const now = super.take(lobby);
    this.#pickState.follow(now);
    return now;
  }

  protected override apply(event: LobbyEvent): void {
    super.apply(event);
    if (this.lobby) this.#pickState.follow(this.lobby);
    const { type, data, seq } = event;
    if (type === "lobby.pick") this.#pickState.note(data.player_id, data.selected_index, seq);
    if (type === "lobby.player_removed") this.#pickState.note(data.player_id, null, seq);
  }

  /** Sends a command without a response body. */
  async #tell(call: Call, options?: CallOptions): Promise<void> {
    await sendKeyed(this.link, { ...call, brings: "anything" }, options);
  }

  async #command(call: Call, options?: CallOptions): Promise<Lobby> {
    const answer = await sendKeyed(this.link, call, options);
    return this.take(bodyOf<{ lobby: Lobby }>(answer).lobby);
  }

  #call(method: Call["method"], path: string, body?: unknown): Call {
    const headers = { "X-Lobby-Token": this.key.token };
    return { method, path: pathOf(this.code) + path, headers, ...(body ? { body } : {}) };
  }
}
