import type { Lobbies } from "../../../actors/index.ts";
import type { WithTokens } from "../../platform/capabilities.ts";
import type { QuestionDeps } from "../questions/deps.ts";

/** Dependencies of drawing questions, and the lobbies. */
export interface LobbyDeps extends QuestionDeps, WithTokens {
  lobbies: Pick<Lobbies, "ask" | "listPublic" | "ownerPort">;
  /** Numbers for new lobbies and seats, unique over all processes. */
  ids: { lobby(): Promise<number>; seat(): Promise<number> };
}
