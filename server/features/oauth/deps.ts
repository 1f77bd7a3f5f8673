import type { OAuthServer } from "./domain/server.ts";

export interface OAuthDeps {
  /** Sign-in at other programs with an account of ours. */
  oauth: OAuthServer;
}
