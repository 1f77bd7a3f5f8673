import Type, { type Static } from "typebox";
import type { HeldLobby, OwnedRooms } from "../../../actors/index.ts";
import { timestamp } from "../../platform/time/clock.ts";
import { Timestamp } from "../../platform/schemas.ts";

export const LobbiesBody = Type.Object({
  owners: Type.Array(
    Type.Object({
      incarnation: Type.String(),
      shards: Type.Integer(),
      actors: Type.Integer(),
      pending: Type.Integer(),
    }),
  ),
  lobbies: Type.Array(
    Type.Object({
      code: Type.String(),
      owner: Type.String({ description: "node id of the process that holds it" }),
      status: Type.String(),
      mode: Type.String(),
      visibility: Type.String(),
      num_players: Type.Integer(),
      created_at: Timestamp,
      last_command_at: Timestamp,
    }),
  ),
});

/** The processes that hold lobbies, with those in memory, most recently used first (OPS-04). */
export function presentLobbies(holders: readonly OwnedRooms[]): Static<typeof LobbiesBody> {
  const held = holders.flatMap(({ nodeId, described }) =>
    (described as HeldLobby[]).map((lobby) => ({ ...lobby, nodeId })),
  );
  held.sort((a, b) => b.lastCommandAt - a.lastCommandAt);
  return {
    owners: holders.map(({ nodeId, shards, actors, pending }) => ({
      incarnation: nodeId,
      shards,
      actors,
      pending,
    })),
    lobbies: held.map((lobby) => ({
      code: lobby.code,
      owner: lobby.nodeId,
      status: lobby.status,
      mode: lobby.mode,
      visibility: lobby.visibility,
      num_players: lobby.players,
      created_at: timestamp(lobby.createdAt),
      last_command_at: timestamp(lobby.lastCommandAt),
    })),
  };
}
