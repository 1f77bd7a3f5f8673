import { stringifySetCookie } from "cookie";
import type { LobbyDeps } from "./deps.ts";
import type { SeatCaller } from "../../http/auth/auth.ts";
import type { Headers } from "../../http/pipeline/route.ts";
import { cookieSeconds } from "./seat-route.ts";
import { lobbyCallerOf, command } from "./service.ts";

const tokenSeconds = 86_400;

/** A hub token for exactly this lobby (HUB-02). Refused to a caller without a seat. */
export async function hubToken(deps: LobbyDeps, caller: SeatCaller, code: string): Promise<string> {
  const body = await command(deps, code, { type: "check_seat", by: lobbyCallerOf(caller) });
  const { player } = JSON.parse(body ?? "null") as { player: { id: number } };
  return deps.tokens.sign("hub", String(caller.player?.playerId ?? 0), tokenSeconds, {
    ...coverOf(deps, code),
    lobby_player: player.id,
  });
}

/** A read-only hub token; a private lobby is `lobby:not_found` (HUB-08). */
export async function spectatorToken(deps: LobbyDeps, code: string): Promise<string> {
  await command(deps, code, { type: "spectate" });
  return deps.tokens.sign("hub", "0", tokenSeconds, { ...coverOf(deps, code), spectator: true });
}

const coverOf = (deps: LobbyDeps, code: string) => ({
  subscribe: [`${deps.config.TOPIC_BASE}/lobby/${code}`],
  lobby: code,
});

/** The token as cookie, as header, and where to use it (HUB-02). */
export function hubHeaders(token: string, isSecure: boolean): Headers {
  const cookie = stringifySetCookie({
    name: "hubAuthorization",
    value: token,
    httpOnly: true,
    sameSite: "lax",
    path: "/v1/hub",
    maxAge: cookieSeconds,
    secure: isSecure,
  });
  return [
    ["Set-Cookie", cookie],
    ["X-Hub-Token", token],
    ["Link", '</v1/hub>; rel="hub"'],
  ];
}
