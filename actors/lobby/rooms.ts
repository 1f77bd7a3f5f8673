import { AppError } from "../../server/platform/errors.ts";
import type { Origin } from "../../server/platform/origin.ts";
import type { lobbyResults, PayloadOf } from "../../workers/queues.ts";
import type { RoomsOfKind } from "../contract.ts";
import { createRooms, type RoomsDeps } from "../create-rooms.ts";
import { defineRoom } from "../kind.ts";
import { lobbyKeyspace } from "./keys.ts";
import { lobbyRules, type LobbyKind } from "./actor.ts";
import { drawPlan } from "./questions.ts";
import type { WireContext } from "./snapshot.ts";
import type { DrawnQuestion, DrawPlan, LobbyCommand } from "./types.ts";
import type { SenderLimit } from "../rules.ts";

/** The lobbies, whichever process owns them. */
export type Lobbies = RoomsOfKind<LobbyCommand>;

/** Dependencies of the lobby rules. */
export interface LobbyRulesDeps {
  context: WireContext;
  enqueueResult: (payload: PayloadOf<typeof lobbyResults>, origin: Origin) => Promise<unknown>;
  /** Draws questions for an endless lobby that runs low (LOB-20). */
  draw: (plan: DrawPlan, origin: Origin) => Promise<DrawnQuestion[]>;
  /** Rate limit of commands per seat; null switches it off. */
  seatLimit: SenderLimit | null;
}

export interface LobbiesDeps extends LobbyRulesDeps, Omit<RoomsDeps, "topicBase"> {}

/** Joins the processes that share the lobbies; resolves when this one owns its share of the shards. */
export async function createLobbies(deps: LobbiesDeps): Promise<Lobbies> {
  const { topicBase } = deps.context;
  return createRooms(lobbyKind(deps), { ...deps, topicBase });
}

/** The lobby rules with their jobs: storing results and drawing further questions. */
export function lobbyKind(deps: LobbyRulesDeps): LobbyKind {
  const jobs: LobbyKind["jobs"] = {
    result: {
      startedBy: "finished",
      isPending: (lobby) => lobby.isResultPending,
      pendingSince: (lobby) => lobby.finishedAt ?? 0,
      async run({ id: lobbyId, seq }, code, origin) {
        await deps.enqueueResult({ code, lobbyId, seq, key: lobbyKeyspace.state(code) }, origin);
        return { type: "result_queued" };
      },
    },
    // The rules request an overdue batch again (LOB-20).
    questions: {
      startedBy: "fetching",
      isPending: (lobby) => lobby.fetchingUntil !== null,
      async run(lobby, _code, origin) {
        const plan = drawPlan(lobby);
        const questions = await drawOrNone(() => deps.draw(plan, origin));
        return { type: "add_questions", firstIndex: plan.first_index, questions };
      },
    },
  };
  return defineRoom(lobbyRules(deps.context, deps.seatLimit, jobs));
}

/** Without further questions the lobby ends after those it has. */
async function drawOrNone(draw: () => Promise<DrawnQuestion[]>): Promise<DrawnQuestion[]> {
  try {
    return await draw();
  } catch (error) {
    if (error instanceof AppError && error.code === "generator:unavailable") return [];
    throw error;
  }
}
