import { AppError } from "../server/platform/errors.ts";
import type { Origin } from "../server/platform/origin.ts";
import type { lobbyResults, PayloadOf } from "../workers/queues.ts";
import type { HeldLobby, Lobbies } from "./contract.ts";
import { lobbyKey } from "./lobby-keys.ts";
import { lobbyRules, type LobbyActor } from "./lobby/actor.ts";
import { drawPlan } from "./lobby/questions.ts";
import type { WireContext } from "./lobby/snapshot.ts";
import type { DrawnQuestion, DrawPlan, Lobby, LobbyCommand } from "./lobby/types.ts";
import { defineActor, type Actors, type SenderLimit } from "./runtime/definition.ts";
import { createActors, type ActorsDeps } from "./runtime/router/create-actors.ts";

/** Dependencies of the lobby rules. */
export interface LobbyRulesDeps {
  context: WireContext;
  enqueueResult: (payload: PayloadOf<typeof lobbyResults>, origin: Origin) => Promise<unknown>;
  /** Draws questions for an endless lobby that runs low (LOB-20). */
  draw: (plan: DrawPlan, origin: Origin) => Promise<DrawnQuestion[]>;
  /** Rate limit of commands per seat; null switches it off. */
  seatLimit: SenderLimit | null;
}

export interface LobbiesDeps extends LobbyRulesDeps, Omit<ActorsDeps, "topicBase"> {}

/** Joins the processes that share the lobbies; resolves when this one owns its share of the shards. */
export async function createLobbies(deps: LobbiesDeps): Promise<Lobbies> {
  const { topicBase } = deps.context;
  return lobbiesOf(await createActors(lobbyDefinition(deps), { ...deps, topicBase }));
}

/** The lobby rules with their jobs: storing results and drawing further questions. */
export function lobbyDefinition(deps: LobbyRulesDeps): LobbyActor {
  const jobs: LobbyActor["jobs"] = {
    result: {
      startedBy: "finished",
      isPending: (lobby) => lobby.isResultPending,
      pendingSince: (lobby) => lobby.finishedAt ?? 0,
      async run({ id: lobbyId, seq }, code, origin) {
        await deps.enqueueResult({ code, lobbyId, seq, key: lobbyKey(code) }, origin);
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
  return defineActor(lobbyRules(deps.context, deps.seatLimit, jobs));
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

/** The lobbies as the rest of the service uses them. */
export function lobbiesOf(actors: Actors<Lobby, LobbyCommand>): Lobbies {
  const tellSpectators: Lobbies["tellSpectators"] = async (code, count) => {
    await actors.ask(code, { type: "spectators", worker: actors.node.nodeId, count });
  };
  return {
    kind: actors.kind,
    node: actors.node,
    room: { ...actors.room, publishSpectators: tellSpectators },
    list: actors.list,
    ask: (code, command, id, origin) => actors.ask(code, command, id, origin),
    snapshot: (code) => actors.snapshot(code),
    ownerPort: (code) => actors.ownerPort(code),
    tellSpectators,
    listPublic: () => actors.listIndex(),
    describe: () => ({ ...actors.describe(), lobbies: actors.heldStates().map(heldLobby) }),
    owns: (code) => actors.owns(code),
    locate: (code) => actors.locate(code),
    join: (ownPort) => actors.join(ownPort),
    handOver: () => actors.handOver(),
    stop: () => actors.stop(),
  };
}

const heldLobby = (lobby: Lobby): HeldLobby => ({
  code: lobby.code,
  status: lobby.status,
  mode: lobby.settings.mode,
  visibility: lobby.settings.visibility,
  players: lobby.seats.length,
  createdAt: lobby.createdAt,
  lastCommandAt: lobby.lastCommandAt,
});
