import type { Lobbies } from "../../../actors/index.ts";
import type { WithTokens } from "../../platform/capabilities.ts";
import type { QuestionDeps } from "../questions/deps.ts";
import type { WithMaintenance } from "../rooms/domain/maintenance.ts";

/** Dependencies of drawing questions, and the lobbies. */
export interface LobbyDeps extends QuestionDeps, WithTokens, WithMaintenance {
  lobbies: Pick<Lobbies, "ask" | "listIndex">;
  /** Numbers for new lobbies and seats, unique over all processes; returned at once except for each new block. */
  ids: { lobby(): number | Promise<number>; seat(): number | Promise<number> };
}
