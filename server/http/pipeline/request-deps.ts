import type { WithEm } from "../../platform/capabilities.ts";
import type { HttpDeps } from "../deps.ts";
import type { RequestContext } from "./request-context.ts";

type RequestOrigin = Pick<RequestContext, "playerId" | "keyOwner" | "ip">;

/**
 * Creates the dependencies of a request: the shared ones, with a lazily forked `em`. All requests use one class: an
 * object with its own getter took a fifth more processor time of a short GET (`npm run bench -- http`).
 */
export function createRequestDeps(base: HttpDeps): (caller: RequestOrigin) => HttpDeps & WithEm {
  class RequestDeps {
    readonly #caller: RequestOrigin;
    #em: WithEm["em"] | null = null;

    constructor(caller: RequestOrigin) {
      this.#caller = caller;
    }

    get em(): WithEm["em"] {
      return (this.#em ??= base.emFor(nameOf(this.#caller)));
    }
  }
  Object.setPrototypeOf(RequestDeps.prototype, base);
  return (caller) => new RequestDeps(caller) as unknown as HttpDeps & WithEm;
}

/** Name of the caller in connection shares: the player, the owner of the API key, or else the address. */
const nameOf = ({ playerId, keyOwner, ip }: RequestOrigin) => {
  const player = playerId ?? keyOwner;
  return player === null ? ip : `p${player}`;
};
