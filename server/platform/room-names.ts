import type { ErrorCode } from "./errors.ts";

/** What the rooms of a kind are called on the wire (HUB-10). */
export interface RoomNames {
  /** Header with the token of a seat, as responses spell it. */
  readonly seatHeader: string;
  readonly seatCookie: string;
  /** Refusal of a wrong token of a seat. */
  readonly seatRefusal: ErrorCode;
  /** Member of a response body with the token of a seat. */
  readonly seatMember: string;
}

/** The first kind of room: it has the names of the specification, and its tokens name no kind. */
export const firstKind = "lobby";
const firstList = "lobbies";

const ofLobbies: RoomNames = {
  seatHeader: "X-Lobby-Token",
  seatCookie: "svc_lobby",
  seatRefusal: "lobby:token_invalid",
  seatMember: "player_token",
};

const ofOthers: RoomNames = {
  seatHeader: "X-Room-Token",
  seatCookie: "svc_room",
  seatRefusal: "room:token_invalid",
  seatMember: "seat_token",
};

/** Lobbies have names of their own, all other kinds the same. */
export const namesOf = (kind: string): RoomNames => (kind === firstKind ? ofLobbies : ofOthers);

/** Topic of a room; `base` is that of lobbies. */
export const roomTopic = (base: string, kind: string, code: string): string =>
  kind === firstKind ? `${base}/${kind}/${code}` : `/rooms/${kind}/${code}`;

/** Topic of a list of rooms. */
export const listTopic = (base: string, list: string): string =>
  list === firstList ? `${base}/${list}` : `/rooms/${list}`;
