import { lobbyRooms } from "../features/lobbies/rooms.ts";
import type { RoomKinds } from "./open-rooms.ts";

/**
 * Every kind of room of the service, by the name of its dependency: `deps.lobbies`. All else derives from this list:
 * construction, node-down notices, handover, metrics, topics, lists, access of the hub and the OpenAPI document.
 */
export const roomKinds = {
  lobbies: lobbyRooms,
} satisfies RoomKinds;
