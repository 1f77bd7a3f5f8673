import type { LobbyEvent } from "./events.ts";
import { LobbyView, pathOf } from "./lobby-view.ts";
import type { CallOptions, StreamOptions } from "./options.ts";
import { bodyOf, readHubToken, send, type Link } from "./request.ts";
import type { Lobby } from "../generated/types.ts";

/** A spectator's view of a public lobby: it can be followed, but not played. */
export class Spectator extends LobbyView {
  readonly #token: string;

  constructor(link: Link, code: string, token: string) {
    super(link, code, null);
    this.#token = token;
  }

  /** Reads the lobby; `player` is null because there is no seat. */
  async read(options?: CallOptions): Promise<{ lobby: Lobby; player: null }> {
    const call = { method: "GET", path: pathOf(this.code) } as const;
    const { lobby } = bodyOf<{ lobby: Lobby }>(await send(this.link, call, options));
    return { lobby: this.take(lobby), player: null };
  }

  /** Like the events of a seat, without the picks of co-op. */
  async *events(options: StreamOptions = {}): AsyncGenerator<LobbyEvent, void, undefined> {
    const { link, code } = this;
    const token = this.#token;
    const readToken = (call: CallOptions) => askToWatch(link, code, call);
    try {
      yield* this.follow({ token, readToken }, options);
    } catch (error) {
      if (!options.signal?.aborted) throw error;
    }
  }
}

export function askToWatch(link: Link, code: string, options?: CallOptions): Promise<string> {
  return readHubToken(link, { method: "POST", path: `${pathOf(code)}/spectate` }, options);
}
