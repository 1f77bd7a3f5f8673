import type { Lobbies } from "../../../actors/index.ts";
import type { QuestionDeps } from "../questions/deps.ts";
import type { RoomDeps } from "../rooms/deps.ts";

/** Dependencies of drawing questions, and the lobbies. */
export interface LobbyDeps extends QuestionDeps, RoomDeps {
  lobbies: Pick<Lobbies, "ask" | "listIndex">;
  ids: RoomDeps["ids"] & {
    /** Number of a new lobby, like that of a seat. */
    lobby(): number | Promise<number>;
  };
}
