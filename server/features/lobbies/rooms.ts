import { createLobbies, lobbyKeyspace, type Lobbies } from "../../../actors/index.ts";
import { lobbyResults } from "../../../workers/queues.ts";
import { AppError } from "../../platform/errors.ts";
import { withOrigin } from "../../platform/origin.ts";
import type { QuestionDeps } from "../questions/deps.ts";
import { drawForLobby } from "../questions/lobby-draw.ts";
import type { RoomAccess, RoomFacts, RoomKind } from "../rooms/domain/room-kind.ts";
import { bodyOf, seatLimitOf } from "../rooms/service.ts";
import { lobbyMessages } from "./messages.ts";

/** Lobbies as a kind of room. */
export const lobbyRooms: RoomKind<QuestionDeps, Lobbies> = {
  kind: "lobby",
  open: (deps, share) =>
    createLobbies({
      ...share,
      context: { hubUrl: "/v1/hub", topicBase: share.topicBase },
      enqueueResult: (payload, origin) => deps.enqueue(lobbyResults, payload, origin),
      seatLimit: seatLimitOf(deps.config),
      draw: (plan, origin) => drawForLobby(withOrigin(deps, origin), plan),
    }),
  access: lobbyAccess,
  facts: lobbyFacts,
  accessErrors: ["lobby:not_found"],
  messages: lobbyMessages,
};

/**
 * A token is valid longer than its seat exists, and the lobby may have become private, so the lobby is
 * asked (S14, HUB-08). Only a removed seat gets a 403 (HUB-02), because browsers treat it as final; every
 * other refusal is temporary.
 */
export function lobbyAccess(lobbies: Pick<Lobbies, "ask">): RoomAccess {
  return {
    async seat(code, seatId) {
      const by = { seatId, playerId: null };
      const reply = await lobbies.ask(code, { type: "check_seat", by, isFollowUp: true });
      if (!reply.ok && reply.code === "lobby:not_member") throw new AppError("hub:topic_forbidden");
      bodyOf(reply);
    },
    async isHeld(code, seatId) {
      const by = { seatId, playerId: null };
      const reply = await lobbies.ask(code, { type: "read", by });
      if (!reply.ok) return reply.code !== "lobby:not_found";
      const answer = JSON.parse(reply.body ?? "null") as { player?: unknown } | null;
      return answer?.player !== null;
    },
    spectator: async (code) => seqOf(bodyOf(await lobbies.ask(code, { type: "spectate" }))),
  };
}

/** Reading is no command of the lobby. */
export async function lobbyFacts(
  lobbies: Pick<Lobbies, "ask">,
  code: string,
): Promise<RoomFacts | null> {
  const by = { seatId: null, playerId: null };
  const reply = await lobbies.ask(code, { type: "read", by });
  if (!reply.ok) return null;
  const { lobby } = JSON.parse(reply.body ?? "{}") as { lobby: ReadLobby };
  const { id: lobbyId, seq, status, players } = lobby;
  const payload = { code, lobbyId, seq, key: lobbyKeyspace.state(code) };
  return {
    members: players.map(({ id, account_id }) => ({ seatId: id, playerId: account_id })),
    // A finished lobby publishes nothing more, so its number is that of the job.
    resultJob:
      status === "finished" ? { queue: lobbyResults.name, id: lobbyResults.jobId(payload) } : null,
  };
}

interface ReadLobby {
  id: number;
  seq: number;
  status: string;
  players: { id: number; account_id: number | null }[];
}

/** The lobby in a response. */
function seqOf(body: string | null): number {
  const answer = JSON.parse(body ?? "null") as { lobby?: { seq?: number } } | null;
  return answer?.lobby?.seq ?? 0;
}
