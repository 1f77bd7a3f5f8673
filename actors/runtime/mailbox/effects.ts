import { AppError } from "../../../server/platform/errors.ts";
import type { Logger } from "../../../server/platform/log/logger.ts";
import type { lobbyResults, PayloadOf } from "../../../workers/queues.ts";
import type { LobbyReply } from "../../contract.ts";
import { drawPlan } from "../../lobby/questions.ts";
import type {
  DrawnQuestion,
  DrawPlan,
  Lobby,
  LobbyCommand,
  LobbyEvent,
} from "../../lobby/types.ts";
import { lobbyKey } from "../storage/keys.ts";

export interface Effects {
  /** Starts what the events call for; nothing here is waited for by a caller. */
  run(lobby: Lobby, events: LobbyEvent[]): void;
  /** Takes up what a dead owner left undone. */
  resume(lobby: Lobby): void;
}

/** Work that leaves the actor: the result job and further questions. Both may run twice and are harmless twice. */
export function createEffects(deps: {
  log: Logger;
  enqueueResult: (payload: PayloadOf<typeof lobbyResults>) => Promise<unknown>;
  draw: (plan: DrawPlan) => Promise<DrawnQuestion[]>;
  ask: (code: string, command: LobbyCommand) => Promise<LobbyReply>;
}): Effects {
  const queueing = new Set<string>();
  const fetching = new Set<string>();

  async function queueResult(lobby: Lobby): Promise<void> {
    if (queueing.has(lobby.code)) return;
    queueing.add(lobby.code);
    try {
      const { code, id: lobbyId, seq } = lobby;
      await deps.enqueueResult({ code, lobbyId, seq, key: lobbyKey(code) });
      await deps.ask(code, { type: "result_queued" });
    } catch (error) {
      deps.log.warn({ lobby: lobby.code, reason: String(error) }, "result job not queued yet");
    } finally {
      queueing.delete(lobby.code);
    }
  }

  async function fetchQuestions(lobby: Lobby): Promise<void> {
    const plan = drawPlan(lobby);
    const { code } = lobby;
    if (fetching.has(code)) return;
    fetching.add(code);
    try {
      const draw = drawOrNone(plan).finally(() => fetching.delete(code));
      // The command that adds a small batch may call for the next one already.
      const questions = await draw;
      await deps.ask(code, { type: "add_questions", firstIndex: plan.first_index, questions });
    } catch (error) {
      // Not the end of the game: the batch is asked for again when it is overdue (LOB-20).
      deps.log.warn({ lobby: code, reason: String(error) }, "further questions not drawn yet");
    }
  }

  /** None can be produced: the lobby ends after the questions it has. */
  async function drawOrNone(plan: DrawPlan): Promise<DrawnQuestion[]> {
    try {
      return await deps.draw(plan);
    } catch (error) {
      if (error instanceof AppError && error.code === "generator:unavailable") return [];
      throw error;
    }
  }

  return {
    run(lobby, events) {
      if (events.some((event) => event.type === "finished")) void queueResult(lobby);
      if (events.some((event) => event.type === "fetching")) void fetchQuestions(lobby);
    },
    resume(lobby) {
      if (lobby.isResultPending) void queueResult(lobby);
      if (lobby.fetchingUntil !== null) void fetchQuestions(lobby);
    },
  };
}
