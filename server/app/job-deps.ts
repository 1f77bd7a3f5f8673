import type { ModerationDeps } from "../../workers/processors/avatar-moderation.ts";
import type { ImportDeps } from "../../workers/processors/codex-import.ts";
import type { GroupActionDeps } from "../../workers/processors/group-actions.ts";
import type { MaintenanceDeps } from "../../workers/processors/maintenance.ts";
import type { GenerationDeps } from "../../workers/processors/question-generation.ts";
import type { DeliveryDeps } from "../features/delivery/domain/deliver.ts";
import type { Leaderboards } from "../features/leaderboards/domain/leaderboards.ts";
import type { QuestionDeps } from "../features/questions/deps.ts";
import type { WithFaults, WithOrigin, WithOrm, WithRequests } from "../platform/capabilities.ts";
import type { WithTracer } from "../platform/tracing/tracer.ts";

/**
 * Dependencies of jobs and of drawing questions, which lobbies do outside requests. `assembleJobs` builds
 * them once per process. To add one, extend the interface of the feature or processor: this type follows,
 * and server/app/assemble.ts does not compile until the value is built.
 */
export interface JobDeps
  extends
    WithOrm,
    WithFaults,
    WithOrigin,
    WithRequests,
    WithTracer,
    DeliveryDeps,
    GenerationDeps,
    GroupActionDeps,
    ImportDeps,
    MaintenanceDeps,
    ModerationDeps,
    QuestionDeps {
  leaderboards: Leaderboards;
}
