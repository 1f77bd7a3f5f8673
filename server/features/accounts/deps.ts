import type { SessionDeps } from "../sessions/deps.ts";

/** Dependencies of sessions, mails and password checks. */
export type AccountDeps = SessionDeps;
