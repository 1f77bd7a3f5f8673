import type { LobbyStream, StreamSource } from "./event-stream.ts";
import { eventTypes } from "../generated/event-types.ts";
import type { LobbyEvent } from "./events.ts";
import { foldLobby, newerOf } from "./lobby-state.ts";
import type { CallOptions, StreamOptions } from "./options.ts";
import type { Link } from "./request.ts";
import { roomEvents } from "./room-events.ts";
import type { Lobby } from "../generated/types.ts";

export const lobbiesPath = "/v1/games/trivia/lobbies";
export const pathOf = (code: string) => `${lobbiesPath}/${encodeURIComponent(code)}`;

/** A view of a lobby; `lobby` is updated by every response and every event. */
export abstract class LobbyView {
  readonly code: string;
  lobby: Lobby | null;
  protected readonly link: Link;
  readonly #streams = new Set<LobbyStream>();

  protected constructor(link: Link, code: string, lobby: Lobby | null) {
    const { followOwner } = link;
    this.link = followOwner === null ? link : { ...link, owner: followOwner() };
    this.code = code;
    this.lobby = lobby;
  }

  /** Applies a state unless a later one is known, and returns the current state. */
  protected take(lobby: Lobby): Lobby {
    this.lobby = newerOf(this.lobby, lobby);
    for (const stream of this.#streams) stream.expect(this.lobby.seq);
    return this.lobby;
  }

  /** Applies an event, unless a later state is known. */
  protected apply(event: LobbyEvent): void {
    this.lobby = foldLobby(this.lobby, event);
  }

  /**
   * Checks the connection of `events()` at once and replaces a dead one. A page does so by itself when it was hidden
   * for 5 s or the network is back; other hosts call it when the device woke or changed its network.
   */
  resumeNow(): void {
    for (const stream of [...this.#streams]) stream.wake();
  }

  abstract read(options?: CallOptions): Promise<{ lobby: Lobby }>;

  /**
   * The topic; null if `lastEventId` is the last event of a finished lobby, after which the hub is silent.
   * To resume after an event, the client needs the lobby's state at that event, not an older one.
   */
  protected async findTopic(
    lastEventId: string | undefined,
    options: CallOptions,
  ): Promise<string | null> {
    const known = lastEventId === undefined ? this.lobby : null;
    const { status, seq, hub } = known ?? (await this.read(options)).lobby;
    return status === "finished" && Number(lastEventId) >= seq ? null : hub.topic;
  }

  /** Every event once and in order, until `isLast`; unknown types of a newer service are skipped. */
  protected async *follow(
    { token, readToken }: Pick<StreamSource, "token" | "readToken">,
    options: StreamOptions,
    isLast: (event: LobbyEvent) => boolean = () => false,
  ): AsyncGenerator<LobbyEvent, void, undefined> {
    const findTopic = (call: CallOptions) => this.findTopic(options.lastEventId, call);
    const readSeq = async (call: CallOptions) => (await this.read(call)).lobby.seq;
    const attach = (stream: LobbyStream) => {
      this.#streams.add(stream);
      return () => void this.#streams.delete(stream);
    };
    const source = { findTopic, token, readToken, readSeq, attach };
    for await (const event of roomEvents<LobbyEvent>(this.link, "lobby", source, options)) {
      if (!Object.hasOwn(eventTypes, event.type)) continue;
      this.apply(event);
      yield event;
      if (isLast(event)) return;
    }
  }
}
