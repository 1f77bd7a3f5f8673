import type { OAuthServer } from "./domain/server.ts";

export interface OAuthDeps {
  /** Dependencies of the OAuth server, which signs players in to other programs. */
  oauth: OAuthServer;
}
