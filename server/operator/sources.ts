import type { Holder } from "../../actors/index.ts";
import type { OutboxFilter } from "../../db/queries/delivery/outbox.ts";
import type { PresentedMessage } from "../features/delivery/domain/outbox.ts";
import type { OperatorCaller } from "../http/auth/auth.ts";
import type { ProcessInfo } from "../runtime/ipc.ts";
import type { AvatarService } from "./avatar-service.ts";
import type { JobService } from "./jobs.ts";
import type { PlayerService } from "./players.ts";
import type { QuestionService } from "./questions.ts";
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
  jobs: JobService;
  players: PlayerService;
  avatars: AvatarService;
  /** Pictures that wait for a person, up to `mostCounted`; null while the database does not answer. */
  waitingPictures(): Promise<number | null>;
  /** How the moderators of avatars stand in the job workers. */
  moderators(): Promise<string[]>;
  questions: QuestionService;
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
