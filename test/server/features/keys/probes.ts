import Type from "typebox";
import {
  defineRoute,
  reply,
  type Route,
  type AuthLevel,
} from "../../../../server/http/pipeline/route.ts";

const CallerBody = Type.Object({ caller: Type.Unknown() });

/** A route that returns the caller, at a path where a key needs the scope of its neighbours. */
function probe(method: "GET" | "POST", path: string, auth: AuthLevel): Route<unknown> {
  return defineRoute({
    method,
    path,
    summary: "Tell who calls",
    tag: "Probe",
    auth,
    source: "test",
    ...(auth === "seat" ? { room: "lobby" } : {}),
    responses: { 200: CallerBody },
    errors: [],
    handler: ({ caller }) => reply(200, { caller }),
  });
}

export const probes: readonly Route<unknown>[] = [
  probe("GET", "/v1/games/trivia/probe", "player"),
  probe("GET", "/v1/games/trivia/probe/optional", "optional"),
  probe("POST", "/v1/games/trivia/probe/optional", "optional"),
  probe("GET", "/v1/games/trivia/probe/{code}", "seat"),
  probe("POST", "/v1/games/trivia/probe", "player"),
  probe("POST", "/v1/games/trivia/lobbies/probe", "registered"),
  probe("POST", "/v1/games/wordgame/probe", "player"),
  probe("GET", "/v1/wallet/probe", "player"),
  probe("POST", "/v1/embers/probe", "player"),
  probe("POST", "/v1/probe", "public"),
];
