import type { Deps } from "../../app/deps.ts";
import type { Exchange } from "../uws/exchange.ts";

type Asking = Pick<Exchange, "playerId" | "keyOwner" | "ip">;

/**
 * Makes each request its own view of the dependencies: the same values, but `em` is a fork of its own, made when it
 * is first asked for. One class for all: an object with a getter of its own took a fifth more processor time of a
 * short GET (`npm run bench -- http`).
 */
export function createRequestDeps(base: Deps): (caller: Asking) => Deps {
  class RequestDeps {
    readonly #caller: Asking;
    #em: Deps["em"] | null = null;

    constructor(caller: Asking) {
      this.#caller = caller;
    }

    get em(): Deps["em"] {
      return (this.#em ??= base.emFor(nameOf(this.#caller)));
    }
  }
  Object.setPrototypeOf(RequestDeps.prototype, base);
  return (caller) => new RequestDeps(caller) as unknown as Deps;
}

/** By whom a request is counted: the player, the owner of the API key, or else the address. */
const nameOf = ({ playerId, keyOwner, ip }: Asking) => {
  const player = playerId ?? keyOwner;
  return player === null ? ip : `p${player}`;
};
