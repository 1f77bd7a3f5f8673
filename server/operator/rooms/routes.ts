import Type from "typebox";
import { reply } from "../../http/pipeline/route.ts";
import { AppError } from "../../platform/errors.ts";
import { roomCodeOf } from "../../platform/text/room-codes.ts";
import { defineOperatorRoute } from "../define.ts";
import {
  KindsBody,
  presentKinds,
  presentRoom,
  presentRooms,
  RoomBody,
  RoomsBody,
  type RoomSources,
} from "./rooms.ts";

const maxRooms = 1_000;
const kind = Type.String({ minLength: 1, maxLength: 64 });

/** Rooms of every kind, without the content of their states (OPS-04). */
export const roomRoutes = (sources: RoomSources) => [
  defineOperatorRoute({
    method: "GET",
    path: "/operator/rooms",
    summary: "Kinds of room, with the number of rooms in memory",
    auth: "viewer",
    source: "OPS-04",
    responses: { 200: KindsBody },
    errors: [],
    handler: async () => reply(200, await presentKinds(sources)),
  }),
  defineOperatorRoute({
    method: "GET",
    path: "/operator/rooms/{kind}",
    summary: "Rooms of a kind in memory, last used first, up to 100 of each process",
    auth: "viewer",
    source: "OPS-04",
    params: Type.Object({ kind }),
    notFoundCode: "room:kind_not_found",
    query: Type.Object({
      limit: Type.Integer({ minimum: 1, maximum: maxRooms, default: 100 }),
    }),
    responses: { 200: RoomsBody },
    errors: ["room:kind_not_found"],
    handler: async ({ params, query }) =>
      reply(200, await presentRooms(sources, params.kind, query.limit)),
  }),
  defineOperatorRoute({
    method: "GET",
    path: "/operator/rooms/{kind}/{code}",
    summary: "One room, whether in memory or not",
    auth: "viewer",
    source: "OPS-04",
    params: Type.Object({ kind, code: Type.String({ minLength: 1, maxLength: 64 }) }),
    notFoundCode: "room:not_found",
    responses: { 200: RoomBody },
    errors: ["room:not_found"],
    handler: async ({ params }) => {
      const code = roomCodeOf(params.code);
      if (code === null) throw new AppError("room:not_found");
      return reply(200, await presentRoom(sources, params.kind, code));
    },
  }),
];
