import Type, { type Static } from "typebox";
import { AppError } from "../platform/errors.ts";
import { timestamp } from "../platform/time/clock.ts";
import type { ProcessInfo, RoomReport, RoomsReport } from "../runtime/ipc.ts";
import type { RoomQuestion } from "../runtime/questions.ts";
import { orNull } from "./schemas.ts";
import { Timestamp } from "../platform/schemas.ts";

const commonFields = {
  code: Type.String(),
  shard: Type.Integer(),
  status: orNull(Type.String({ description: "of the snapshot; null for kinds without one" })),
  last_seq: Type.Integer({ description: "number of the last published message" }),
  deadline_at: orNull(Timestamp),
};

export const KindsBody = Type.Object({
  kinds: Type.Array(
    Type.Object({
      kind: Type.String(),
      num_owners: Type.Integer({ description: "processes that own shards" }),
      num_shards: Type.Integer(),
      num_rooms: Type.Integer({ description: "in memory" }),
      num_pending: Type.Integer({ description: "commands without an answer" }),
    }),
  ),
});

export const RoomsBody = Type.Object({
  owners: Type.Array(
    Type.Object({
      incarnation: Type.String(),
      pid: Type.Integer(),
      num_shards: Type.Integer(),
      num_rooms: Type.Integer(),
      num_pending: Type.Integer(),
    }),
  ),
  rooms: Type.Array(
    Type.Object({
      ...commonFields,
      owner: Type.String({ description: "node id of the process that holds it" }),
      last_command_at: Timestamp,
    }),
  ),
});

export const RoomBody = Type.Object({
  room: Type.Object({
    ...commonFields,
    kind: Type.String(),
    owner: orNull(Type.String({ description: "node id; null while it has no owner" })),
    num_subscribers: Type.Integer({ description: "subscribers in the processes of this service" }),
  }),
});

export interface RoomSources {
  /** One report per process with rooms. */
  rooms(): Promise<RoomsReport[]>;
  /** One report per process with rooms that responds in time. */
  room(question: RoomQuestion): Promise<RoomReport[]>;
  processes(): Promise<ProcessInfo[]>;
}

/** The reports of the processes; without any, nothing is known about rooms. */
async function reportsOf(rooms: RoomSources["rooms"]): Promise<RoomsReport[]> {
  const reports = await rooms();
  if (reports.length === 0) throw new AppError("server:unavailable");
  return reports;
}

/** The kinds of room, in the order of their list. */
export async function presentKinds({ rooms }: RoomSources): Promise<Static<typeof KindsBody>> {
  const reports = await reportsOf(rooms);
  const names = new Set(reports.flatMap(({ kinds }) => Object.keys(kinds)));
  return {
    kinds: [...names].map((kind) => {
      const shares = reports.flatMap(({ kinds }) => kinds[kind] ?? []);
      const sum = (key: "shards" | "actors" | "pending") =>
        shares.reduce((total, share) => total + share[key], 0);
      return {
        kind,
        num_owners: shares.filter(({ shards }) => shards > 0).length,
        num_shards: sum("shards"),
        num_rooms: sum("actors"),
        num_pending: sum("pending"),
      };
    }),
  };
}

/** The processes that hold rooms of a kind, and the rooms used last. */
export async function presentRooms(
  { rooms }: RoomSources,
  kind: string,
  limit: number,
): Promise<Static<typeof RoomsBody>> {
  const reports = await reportsOf(rooms);
  const shares = reports.flatMap(({ pid, kinds }) => {
    // The kind is from the path: names such as `constructor` are no kinds.
    const share = Object.hasOwn(kinds, kind) ? kinds[kind] : undefined;
    return share ? [{ ...share, pid }] : [];
  });
  if (shares.length === 0) throw new AppError("room:kind_not_found");
  const held = shares
    .flatMap(({ held: ofShare, nodeId }) => ofShare.map((room) => ({ ...room, nodeId })))
    .sort((a, b) => b.lastUsedAt - a.lastUsedAt)
    .slice(0, limit);
  return {
    owners: shares.map(({ nodeId, pid, shards, actors, pending }) => ({
      incarnation: nodeId,
      pid,
      num_shards: shards,
      num_rooms: actors,
      num_pending: pending,
    })),
    rooms: held.map((room) => ({
      ...presentCommon(room),
      owner: room.nodeId,
      last_command_at: timestamp(room.lastUsedAt),
    })),
  };
}

/** One process reads the room from its owner; all count their subscribers. */
export async function presentRoom(
  sources: RoomSources,
  kind: string,
  code: string,
): Promise<Static<typeof RoomBody>> {
  const processes = await sources.processes();
  const reader = processes.find(({ role, isReady }) => role === "http" && isReady)?.pid ?? 0;
  const reports = await sources.room({ kind, code, reader });
  const report = reports.find(({ pid }) => pid === reader);
  if (!report) throw new AppError("server:unavailable");
  const { room } = report;
  if (room === null) throw new AppError("room:not_found");
  const numSubscribers = reports.reduce((total, one) => total + one.numSubscribers, 0);
  return {
    room: { ...presentCommon(room), kind, owner: room.owner, num_subscribers: numSubscribers },
  };
}

interface CommonFacts {
  code: string;
  shard: number;
  status: string | null;
  seq: number;
  deadline: number | null;
}

const presentCommon = ({ code, shard, status, seq, deadline }: CommonFacts) => ({
  code,
  shard,
  status,
  last_seq: seq,
  deadline_at: deadline === null ? null : timestamp(deadline),
});
