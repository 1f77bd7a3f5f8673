import type { Lobbies } from "../../../actors/index.ts";
import type { WithConfig, WithTokens } from "../../platform/capabilities.ts";
import type { Hub } from "../../sse/delivery/hub.ts";

export interface HubRouteDeps extends WithConfig, WithTokens {
  hub: Hub;
  /** Whether a seat may follow its lobby is asked of the lobby. */
  lobbies: Pick<Lobbies, "ask">;
}
