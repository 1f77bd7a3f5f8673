import type { DeliveryRules } from "../rules.ts";
import type { LobbyMessageType } from "./messages.ts";

type Visibility = "public" | "private";

/** The fields of a message that decide who receives it. */
interface DeliveredData {
  player_id?: number;
  changes?: { visibility?: Visibility };
  lobby?: { visibility?: Visibility };
}

/** The fields of the lobby in a snapshot. */
interface DeliveredLobby {
  visibility?: Visibility;
  players?: { id: number }[];
}

const removal: LobbyMessageType = "lobby.player_removed";
const settings: LobbyMessageType = "lobby.settings";
const pick: LobbyMessageType = "lobby.pick";

/**
 * Recipients of a lobby's messages: a removed seat receives nothing more (S14); spectators receive no
 * picks, and nothing of a private lobby (HUB-08).
 */
export const lobbyDelivery: DeliveryRules = {
  message: (type, { player_id, changes, lobby }: DeliveredData) => ({
    removedSeat: type === removal ? (player_id ?? null) : null,
    visibility: lobby?.visibility ?? null,
    isHidden: type === pick,
    opens: type === settings && changes?.visibility === "public",
  }),
  snapshot: ({ visibility, players }: DeliveredLobby) => ({
    isPublic: visibility === "public",
    seats: players?.map(({ id }) => id) ?? null,
  }),
};
