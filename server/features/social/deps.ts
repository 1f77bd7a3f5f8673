import type { SessionDeps } from "../sessions/deps.ts";

/** Dependencies of sign-in by another provider. */
export type SocialDeps = SessionDeps;
