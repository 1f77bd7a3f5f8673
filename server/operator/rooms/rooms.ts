import Type, { type Static } from "typebox";
import type { RoomSummary } from "../../../actors/index.ts";
import { AppError } from "../../platform/errors.ts";
import { timestamp } from "../../platform/time/clock.ts";
import type { RoomReport, RoomsReport } from "../../runtime/ipc.ts";
import type { RoomQuestion, SubscribersQuestion } from "../../runtime/process-questions.ts";
import { orNull } from "../schemas.ts";
import { Timestamp } from "../../platform/schemas.ts";

const commonFields = {
  code: Type.String(),
  shard: Type.Integer(),
  status: orNull(Type.String({ description: "of the snapshot; null for kinds without one" })),
  last_seq: Type.Integer({ description: "number of the last published message" }),
  deadline_at: orNull(Timestamp),
  num_subscribers: Type.Integer({ description: "streams in the processes that respond" }),
};
const sinceLoaded = "commands since its owner has had it in memory, ticks included and reads not";

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
      host: Type.String(),
      pid: Type.Integer(),
      num_shards: Type.Integer(),
      num_rooms: Type.Integer(),
      num_pending: Type.Integer(),
    }),
  ),
  rooms: Type.Array(
    Type.Object({
      ...commonFields,
      num_commands: Type.Integer({ description: sinceLoaded }),
      owner: Type.String({ description: "node id of the process that holds it" }),
      last_command_at: Timestamp,
    }),
  ),
});

const OwnerBody = Type.Object({
  at: Timestamp,
  cause: Type.String({
    description: "started, recovered, drained, rebalanced, exited, frozen or reclaimed",
  }),
  process: Type.String({ description: "name of its instance" }),
  incarnation: Type.String({ description: "node id" }),
});

const MemberBody = Type.Object({
  seat_id: Type.Integer(),
  player_id: Type.Union([Type.Integer(), Type.Null()]),
});

export const RoomBody = Type.Object({
  room: Type.Object({
    ...commonFields,
    kind: Type.String(),
    owner: orNull(Type.String({ description: "node id; null while it has no owner" })),
    num_commands: Type.Unsafe<number | null>({
      type: ["integer", "null"],
      description: `${sinceLoaded}; null if its owner does not respond`,
    }),
    owners: Type.Array(OwnerBody, { description: "the last 8 of its shard, newest first" }),
    events: Type.Array(Type.Object({ seq: Type.Integer(), type: Type.String(), at: Timestamp }), {
      description: "the last 50 messages, newest first, without their content",
    }),
    members: Type.Union([Type.Array(MemberBody), Type.Null()], {
      description: "null for a kind without them",
    }),
    result_job: Type.Union([Type.Object({ queue: Type.String(), id: Type.String() }), Type.Null()]),
  }),
});

/** The report of a process at this host. */
export type HostedReport = RoomsReport & { host: string };

/** The processes of all instances. */
export interface RoomSources {
  /** One report per process with rooms. */
  rooms(): Promise<HostedReport[]>;
  /** One report per process with rooms that responds in time. */
  room(question: RoomQuestion): Promise<RoomReport[]>;
  /** From each process with streams that responds in time, a number per code. */
  subscribers(question: SubscribersQuestion): Promise<number[][]>;
}

/** The reports of the processes; without any, nothing is known about rooms. */
async function reportsOf(rooms: RoomSources["rooms"]): Promise<HostedReport[]> {
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
  sources: RoomSources,
  kind: string,
  limit: number,
): Promise<Static<typeof RoomsBody>> {
  const reports = await reportsOf(sources.rooms);
  const shares = reports.flatMap(({ host, pid, kinds }) => {
    // The kind is from the path: names such as `constructor` are no kinds.
    const share = Object.hasOwn(kinds, kind) ? kinds[kind] : undefined;
    return share ? [{ ...share, host, pid }] : [];
  });
  if (shares.length === 0) throw new AppError("room:kind_not_found");
  const held = shares
    .flatMap(({ held: ofShare, nodeId }) => ofShare.map((room) => ({ ...room, nodeId })))
    .sort((a, b) => b.lastUsedAt - a.lastUsedAt)
    .slice(0, limit);
  const codes = held.map(({ code }) => code);
  const numSubscribers = await countSubscribers(sources, { kind, codes });
  return {
    owners: shares.map(({ nodeId, host, pid, shards, actors, pending }) => ({
      incarnation: nodeId,
      ...{ host, pid },
      num_shards: shards,
      num_rooms: actors,
      num_pending: pending,
    })),
    rooms: held.map((room, i) => ({
      ...presentCommon(room, numSubscribers[i]),
      num_commands: room.numCommands,
      owner: room.nodeId,
      last_command_at: timestamp(room.lastUsedAt),
    })),
  };
}

/** Its owner reads the room; if it has none, or its owner does not respond, a process that responded does. */
export async function presentRoom(
  sources: RoomSources,
  kind: string,
  code: string,
): Promise<Static<typeof RoomBody>> {
  const [report, numSubscribers] = await Promise.all([
    readRoom(sources, kind, code),
    countSubscribers(sources, { kind, codes: [code] }),
  ]);
  if (!report) throw new AppError("server:unavailable");
  const { room, facts } = report;
  if (room === null) throw new AppError("room:not_found");
  const { owner, numCommands } = room;
  const common = presentCommon(room, numSubscribers[0]);
  return {
    room: {
      ...common,
      ...{ num_commands: numCommands, kind, owner },
      owners: room.owners.map(({ atMs, cause, process, nodeId }) => ({
        at: timestamp(atMs),
        ...{ cause, process, incarnation: nodeId },
      })),
      events: room.events.map(({ seq, type, atMs }) => ({ seq, type, at: timestamp(atMs) })),
      members:
        facts?.members.map(({ seatId, playerId }) => ({ seat_id: seatId, player_id: playerId })) ??
        null,
      result_job: facts?.resultJob ?? null,
    },
  };
}

async function readRoom(
  { room }: RoomSources,
  kind: string,
  code: string,
): Promise<RoomReport | undefined> {
  const reports = await room({ kind, code, reader: null });
  const byOwner = reports.find(({ hasRead }) => hasRead);
  const [other] = reports;
  if (byOwner || !other) return byOwner;
  const again = await room({ kind, code, reader: other.process });
  return again.find(({ hasRead }) => hasRead);
}

async function countSubscribers(
  { subscribers }: RoomSources,
  question: SubscribersQuestion,
): Promise<number[]> {
  const counts = await subscribers(question);
  return question.codes.map((_, i) => counts.reduce((total, one) => total + (one[i] ?? 0), 0));
}

const presentCommon = (
  { code, shard, status, seq, deadline }: RoomSummary,
  numSubscribers = 0,
) => ({
  code,
  shard,
  status,
  last_seq: seq,
  deadline_at: deadline === null ? null : timestamp(deadline),
  num_subscribers: numSubscribers,
});
