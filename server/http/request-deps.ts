import type { Deps } from "../deps.ts";
import type { Exchange } from "./exchange.ts";

type Asking = Pick<Exchange, "playerId" | "keyOwner" | "ip">;

/** The dependencies as one request has them: `em` is a fork of its own, made when it is first asked for. */
export function requestDeps(base: Deps, caller: Asking): Deps {
  let em: Deps["em"] | null = null;
  const fork = () => (em ??= base.emFor(nameOf(caller)));
  return Object.create(base, { em: { get: fork } }) as Deps;
}

/** By whom a request is counted: the player, the owner of the API key, or else the address. */
const nameOf = ({ playerId, keyOwner, ip }: Asking) => {
  const player = playerId ?? keyOwner;
  return player === null ? ip : `p${player}`;
};
