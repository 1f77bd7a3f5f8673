import type { AuditLogDeps } from "./audit-log/routes.ts";
import type { AvatarsDeps } from "./avatars/routes.ts";
import type { FailuresDeps } from "./failures/routes.ts";
import type { FleetDeps } from "./fleet/routes.ts";
import type { HealthDeps } from "./health/routes.ts";
import type { ImportsDeps } from "./imports/routes.ts";
import type { JobsDeps } from "./jobs/routes.ts";
import type { MaintenanceDeps } from "./maintenance/routes.ts";
import type { MessagesDeps } from "./messages/routes.ts";
import type { OverviewDeps } from "./overview/routes.ts";
import type { PlayersDeps } from "./players/routes.ts";
import type { QuestionsDeps } from "./questions/routes.ts";
import type { RequestsDeps } from "./requests/routes.ts";
import type { RoomsDeps } from "./rooms/routes.ts";
import type { SearchDeps } from "./search/routes.ts";
import type { SessionDeps } from "./session/routes.ts";
import type { WalletsDeps } from "./wallets/routes.ts";
import type { WorkersDeps } from "./workers/routes.ts";

/** What the routes of the operator listener take, each feature its part; every call is answered in a bounded time. */
export type OperatorDeps = AuditLogDeps &
  AvatarsDeps &
  FailuresDeps &
  FleetDeps &
  HealthDeps &
  ImportsDeps &
  JobsDeps &
  MaintenanceDeps &
  MessagesDeps &
  OverviewDeps &
  PlayersDeps &
  QuestionsDeps &
  RequestsDeps &
  RoomsDeps &
  SearchDeps &
  SessionDeps &
  WalletsDeps &
  WorkersDeps;
