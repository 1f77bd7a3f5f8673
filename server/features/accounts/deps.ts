import type { SessionDeps } from "../sessions/deps.ts";

/** Opens sessions, writes mails and checks passwords, as signing in does. */
export type AccountDeps = SessionDeps;
