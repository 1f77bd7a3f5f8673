import { listTopic, roomTopic } from "../../platform/room-names.ts";
import { exactCodeOf } from "../../platform/text/room-codes.ts";

/** Topic of one room of a kind. */
export interface RoomName {
  kind: string;
  name: string;
  code: string;
}

/** Topic of a list. */
export interface ListName {
  kind: "list";
  name: string;
  list: string;
  code?: undefined;
}

export type Topic = RoomName | ListName;

/** Kinds of rooms and names of lists that topics may name. */
export interface TopicNames {
  rooms: readonly string[];
  lists: readonly string[];
}

/**
 * Reads the topic of a room or of a list; null for every other text (HUB-01). `base`: of the topics of lobbies.
 * The code may be in lower case (LOB-03); `name` has it as events do.
 */
export function parseTopic(text: string, base: string, { rooms, lists }: TopicNames): Topic | null {
  const list = lists.find((one) => text === listTopic(base, one));
  if (list !== undefined) return { kind: "list", name: text, list };
  const kind = rooms.find((one) => text.startsWith(roomTopic(base, one, "")));
  if (kind === undefined) return null;
  const code = exactCodeOf(text.slice(roomTopic(base, kind, "").length));
  return code === null ? null : { kind, name: roomTopic(base, kind, code), code };
}
