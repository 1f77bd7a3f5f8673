import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";

/** A finished lobby; written once by the job `lobby-results` (LOB-27). */
export const LobbyResultSchema = defineEntity({
  name: "LobbyResult",
  tableName: "lobby_results",
  properties: {
    id: p.integer().primary(),
    /** From the sequence `lobby_ids`; unique, so a job that runs twice stores one result. */
    lobbyId: p.integer().unique("lobby_results_lobby_unique"),
    code: p.string().length(6).index("lobby_results_code_index"),
    realm: p.string().length(63),
    /** Id in `players`; null for a host without a player. */
    hostPlayerId: p.integer().nullable().index("lobby_results_host_index"),
    mode: p.enum(["coop", "versus"]),
    settings: p.json<Record<string, unknown>>(),
    /** Null if the lobby ended before it started. */
    startedAt: p.datetime().nullable(),
    finishedAt: p.datetime().index("lobby_results_finished_at_index"),
    endReason: p.string().length(32),
    /** The complete result sheet. */
    sheet: p.json<Record<string, unknown>>(),
  },
});

export type LobbyResult = InferEntity<typeof LobbyResultSchema>;
