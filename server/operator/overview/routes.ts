import type { Static } from "typebox";
import type { ProcessEvents } from "../../features/processes/domain/process-events.ts";
import { reply, routesWith } from "../../http/pipeline/route.ts";
import type { Maintenance } from "../../features/rooms/domain/maintenance.ts";
import type { JobSeries } from "../../platform/job-times/store.ts";
import type { Clock } from "../../platform/time/clock.ts";
import type { ProcessInfo } from "../../runtime/ipc.ts";
import type { FailureService } from "../failures/routes.ts";
import { readHealth, type Health, type HealthSources } from "../health/health.ts";
import { within } from "../health/stores.ts";
import type { JobService } from "../jobs/service.ts";
import type { QueueBody } from "../schemas.ts";
import { presentProcess } from "../workers/processes.ts";
import type { Stat } from "./dashboard.ts";
import { hourMs, presentLastHour } from "./last-hour.ts";
import { overviewPage } from "./page.ts";
import { OverviewBody } from "./schemas.ts";
import { whatIsWrong } from "./wrong.ts";

export interface OverviewDeps extends HealthSources {
  /** What the service does now; one of its lines is the health. */
  stats(state: Promise<Static<typeof Health>>): Promise<Stat[]>;
  processes(): Promise<ProcessInfo[]>;
  jobs: Pick<JobService, "queues">;
  failures: Pick<FailureService, "list">;
  jobTimes: { lastHour(): Promise<JobSeries[]> };
  processEvents: Pick<ProcessEvents, "since">;
  maintenance: { read(): Promise<Maintenance | null> };
  clock: Pick<Clock, "now">;
}

const defineRoute = routesWith<OverviewDeps>();

export const overviewRoutes = [
  defineRoute({
    method: "GET",
    path: "/operator",
    summary: "What is wrong now, the last hour, rates, queues and processes",
    tag: "Operator",
    auth: "viewer",
    source: "OPS-06, OPS-71",
    responses: { 200: OverviewBody },
    errors: [],
    page: overviewPage,
    handler: async ({ deps }) => {
      const now = deps.clock.now();
      const orNull = <T>(work: Promise<T>) => within<T | null>(work, null);
      const asked = readHealth(deps);
      const [state, stats, processes, fleet, queues, groups, jobs, events, maintenance] =
        await Promise.all([
          asked,
          deps.stats(asked),
          deps.processes(),
          deps.fleetProblems(),
          orNull<QueueBody[]>(deps.jobs.queues()),
          // Within its own limits: it responds without Postgres.
          deps.failures.list().catch(() => null),
          orNull(deps.jobTimes.lastHour()),
          orNull(deps.processEvents.since(hourMs)),
          orNull(deps.maintenance.read()),
        ]);
      const failures = groups?.failures ?? null;
      return reply(200, {
        wrong: whatIsWrong({ health: state, failures, queues, processes, fleet, maintenance }),
        last_hour: presentLastHour({ jobs, failures, events }, now),
        stats: stats.map(({ name, value, isBad }) => ({ name, value, is_bad: isBad })),
        queues,
        processes: processes.map(presentProcess),
      });
    },
  }),
];
