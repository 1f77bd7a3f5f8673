import type { Deps } from "../../app/deps.ts";
import type { RequestContext } from "../uws/request-context.ts";

type RequestOrigin = Pick<RequestContext, "playerId" | "keyOwner" | "ip">;

/**
 * Creates the dependencies of a request: the shared ones, with a lazily forked `em`. All requests use one class: an
 * object with its own getter took a fifth more processor time of a short GET (`npm run bench -- http`).
 */
export function createRequestDeps(base: Deps): (caller: RequestOrigin) => Deps {
  class RequestDeps {
    readonly #caller: RequestOrigin;
    #em: Deps["em"] | null = null;

    constructor(caller: RequestOrigin) {
      this.#caller = caller;
    }

    get em(): Deps["em"] {
      return (this.#em ??= base.emFor(nameOf(this.#caller)));
    }
  }
  Object.setPrototypeOf(RequestDeps.prototype, base);
  return (caller) => new RequestDeps(caller) as unknown as Deps;
}

/** Name of the caller in connection shares: the player, the owner of the API key, or else the address. */
const nameOf = ({ playerId, keyOwner, ip }: RequestOrigin) => {
  const player = playerId ?? keyOwner;
  return player === null ? ip : `p${player}`;
};
