import type { SessionDeps } from "../sessions/deps.ts";

/** Opens sessions with what another provider says of a player. */
export type SocialDeps = SessionDeps;
