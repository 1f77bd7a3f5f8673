import type { Deps } from "../deps.ts";
import type { Exchange } from "./exchange.ts";

type Asking = Pick<Exchange, "playerId" | "keyOwner" | "ip">;

const asking = Symbol("asking");
type RequestDeps = Deps & { [asking]: Asking };

/**
 * Makes each request its own view of the dependencies: the same values, but `em` is a fork of its
 * own, made when it is first asked for, so that a request without queries costs nothing.
 */
export function createRequestDeps(base: Deps): (caller: Asking) => Deps {
  const view = Object.create(base, {
    em: {
      configurable: true,
      get(this: RequestDeps) {
        const em = base.emFor(nameOf(this[asking]));
        Object.defineProperty(this, "em", { value: em });
        return em;
      },
    },
  }) as RequestDeps;
  return (caller) => {
    const deps = Object.create(view) as RequestDeps;
    deps[asking] = caller;
    return deps;
  };
}

/** By whom a request is counted: the player, the owner of the API key, or else the address. */
const nameOf = ({ playerId, keyOwner, ip }: Asking) => {
  const player = playerId ?? keyOwner;
  return player === null ? ip : `p${player}`;
};
