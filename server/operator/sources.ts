import type { Holder } from "../../actors/index.ts";
import type { OutboxFilter } from "../../db/queries/delivery/outbox.ts";
import type { PresentedMessage } from "../features/delivery/domain/outbox.ts";
import type { OperatorCaller } from "../http/auth/auth.ts";
import type { ProcessInfo } from "../runtime/ipc.ts";
import type { AvatarDesk } from "./avatar-desk.ts";
import type { JobDesk } from "./jobs.ts";
import type { PlayerDesk } from "./players.ts";
import type { QuestionDesk } from "./questions.ts";
import type { StoreStates } from "./stores.ts";
import type { ReconciliationView } from "./wallets.ts";

/** Sums over all processes; what is counted begins anew with the operator process. */
export interface Totals {
  requests: number;
  /** Answers of 500 and above. */
  failures: number;
  commands: number;
  lobbies: number;
  streams: number;
}

/** What the addresses show and change; each answers within a bounded time. */
export interface Sources {
  processes(): Promise<ProcessInfo[]>;
  lobbies(): Promise<Holder[]>;
  jobs: JobDesk;
  players: PlayerDesk;
  avatars: AvatarDesk;
  /** Pictures that wait for a person, up to `mostCounted`; null while the database does not answer. */
  waitingPictures(): Promise<number | null>;
  /** How the moderators of avatars stand in the job workers. */
  moderators(): Promise<string[]>;
  questions: QuestionDesk;
  metrics(): Promise<string>;
  totals(): Promise<Totals>;
  outbox(filter: OutboxFilter): Promise<PresentedMessage[]>;
  wallets(): Promise<ReconciliationView>;
  stores(): Promise<StoreStates>;
  audit: Audit;
}

export interface AuditedChange {
  action: string;
  target: string;
  reason?: string;
}

/** Writes down who changes what and why; rejects when that is not possible, and nothing is changed. */
export type Audit = (caller: OperatorCaller, change: AuditedChange) => Promise<void>;
