import Type from "typebox";
import type { OwnedRooms } from "../../../actors/index.ts";
import { LobbiesBody, presentLobbies } from "./lobbies.ts";
import { reply, routesWith } from "../../http/pipeline/route.ts";
import { kindsPage, roomPage, roomsPage } from "./page.ts";
import { AppError } from "../../platform/errors.ts";
import { roomCodeOf } from "../../platform/text/room-codes.ts";
import {
  KindsBody,
  presentKinds,
  presentRoom,
  presentRooms,
  RoomBody,
  RoomsBody,
  type RoomSources,
} from "./rooms.ts";

export interface RoomsDeps extends RoomSources {
  /** The reports of the processes that hold lobbies. */
  lobbies(): Promise<OwnedRooms[]>;
}

const defineRoute = routesWith<RoomsDeps>();
const tag = "Operator";

const maxRooms = 1_000;
const kind = Type.String({ minLength: 1, maxLength: 64 });

/** Rooms of every kind, without the content of their states (OPS-04). */
export const roomRoutes = [
  defineRoute({
    method: "GET",
    path: "/operator/rooms",
    tag,
    summary: "Kinds of room, with the number of rooms in memory",
    auth: "viewer",
    source: "OPS-04",
    responses: { 200: KindsBody },
    page: kindsPage,
    errors: [],
    handler: async ({ deps }) => reply(200, await presentKinds(deps)),
  }),
  defineRoute({
    method: "GET",
    path: "/operator/rooms/{kind}",
    tag,
    summary: "Rooms of a kind in memory, last used first, up to 100 of each process",
    auth: "viewer",
    source: "OPS-04",
    params: Type.Object({ kind }),
    notFoundCode: "room:kind_not_found",
    query: Type.Object({
      limit: Type.Integer({ minimum: 1, maximum: maxRooms, default: 100 }),
    }),
    responses: { 200: RoomsBody },
    page: roomsPage,
    errors: ["room:kind_not_found"],
    handler: async ({ deps, params, query }) =>
      reply(200, await presentRooms(deps, params.kind, query.limit)),
  }),
  defineRoute({
    method: "GET",
    path: "/operator/rooms/{kind}/{code}",
    tag,
    summary: "One room, whether in memory or not, with the last owners of its shard",
    auth: "viewer",
    source: "OPS-04, OPS-62",
    params: Type.Object({ kind, code: Type.String({ minLength: 1, maxLength: 64 }) }),
    notFoundCode: "room:not_found",
    responses: { 200: RoomBody },
    page: roomPage,
    errors: ["room:not_found"],
    handler: async ({ deps, params }) => {
      const code = roomCodeOf(params.code);
      if (code === null) throw new AppError("room:not_found");
      return reply(200, await presentRoom(deps, params.kind, code));
    },
  }),
  defineRoute({
    method: "GET",
    path: "/operator/lobbies",
    tag,
    summary: "Processes that hold lobbies, with up to 100 lobbies in memory each",
    auth: "viewer",
    source: "OPS-04",
    responses: { 200: LobbiesBody },
    errors: [],
    handler: async ({ deps }) => reply(200, presentLobbies(await deps.lobbies())),
  }),
];
