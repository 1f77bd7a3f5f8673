import type { Holder } from "../../actors/index.ts";
import type { OutboxFilter } from "../../db/queries/delivery/outbox.ts";
import type { PresentedMessage } from "../features/delivery/domain/outbox.ts";
import type { OperatorCaller } from "../http/auth/auth.ts";
import type { ProcessInfo } from "../runtime/ipc.ts";
import type { DrainAnswer } from "../runtime/questions.ts";
import type { AvatarService } from "./avatar-service.ts";
import type { JobService } from "./jobs/service.ts";
import type { PlayerService } from "./players.ts";
import type { QuestionService } from "./questions.ts";
import type { RoomSources } from "./rooms/rooms.ts";
import type { StoreStates } from "./health/stores.ts";
import type { ReconciliationView } from "./wallets/wallets.ts";

/** Sums over all processes; counting restarts with the operator process. */
export interface Totals {
  requests: number;
  /** Responses with status 500 or above. */
  failures: number;
  /** To rooms of every kind. */
  commands: number;
  /** In memory, of every kind. */
  rooms: number;
  streams: number;
}

/** Dependencies of the operator routes; each responds within a bounded time. */
export interface Sources extends RoomSources {
  processes(): Promise<ProcessInfo[]>;
  /** Null if the primary does not respond. */
  drain(index: number): Promise<DrainAnswer | null>;
  lobbies(): Promise<Holder[]>;
  jobs: JobService;
  players: PlayerService;
  avatars: AvatarService;
  /** Pictures waiting for a decision, up to `mostCounted`; null if the database does not respond. */
  waitingPictures(): Promise<number | null>;
  /** State of the avatar moderators in the job workers. */
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

/** Records who changes what and why. Rejects if that is not possible; nothing is changed then. */
export type Audit = (caller: OperatorCaller, change: AuditedChange) => Promise<void>;
