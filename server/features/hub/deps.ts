import type { Lobbies } from "../../../actors/index.ts";
import type { WithConfig, WithTokens } from "../../platform/capabilities.ts";
import type { Hub } from "../../sse/delivery/hub.ts";

export interface HubRouteDeps extends WithConfig, WithTokens {
  hub: Hub;
  /** The lobby decides whether a seat may subscribe. */
  lobbies: Pick<Lobbies, "ask">;
}
