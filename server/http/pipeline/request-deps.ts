import type { WithEm, WithOrigin } from "../../platform/capabilities.ts";
import type { HttpDeps } from "../deps.ts";
import type { RequestContext } from "./request-context.ts";

type RequestOf = Pick<
  RequestContext,
  "playerId" | "keyOwner" | "ip" | "origin" | "entry" | "caller"
>;
type OwnDeps = WithEm & WithOrigin;

/**
 * Creates the dependencies of a request: the shared ones, with a lazily forked `em` and the origin of its work. All
 * requests use one class: an object with its own getter took a fifth more processor time of a short GET (`npm run
 * bench -- floor http`).
 */
export function createRequestDeps(base: HttpDeps): (ctx: RequestOf) => HttpDeps & OwnDeps {
  class RequestDeps {
    readonly #ctx: RequestOf;
    #em: WithEm["em"] | null = null;

    constructor(ctx: RequestOf) {
      this.#ctx = ctx;
    }

    get em(): WithEm["em"] {
      return (this.#em ??= base.emFor(nameOf(this.#ctx), guestOf(this.#ctx)));
    }

    get origin(): WithOrigin["origin"] {
      return this.#ctx.origin;
    }
  }
  Object.setPrototypeOf(RequestDeps.prototype, base);
  return (ctx) => new RequestDeps(ctx) as unknown as HttpDeps & OwnDeps;
}

/** Name of the caller in connection shares: the player, the owner of the API key, or else the address. */
const nameOf = ({ playerId, keyOwner, ip }: RequestOf) => {
  const player = playerId ?? keyOwner;
  return player === null ? ip : `p${player}`;
};

/** The guest whom the level `player` lets in; null for other callers. */
const guestOf = ({ entry, caller }: RequestOf): number | null =>
  entry?.route.auth === "player" && caller !== null && "isGuest" in caller && caller.isGuest
    ? caller.playerId
    : null;
