import { reply, routesWith } from "../../http/pipeline/route.ts";
import type { ProcessInfo } from "../../runtime/ipc.ts";
import { within } from "../health/stores.ts";
import type { JobService } from "../jobs/service.ts";
import type { QueueBody } from "../schemas.ts";
import { presentProcess } from "../workers/processes.ts";
import type { Stat } from "./dashboard.ts";
import { overviewPage } from "./page.ts";
import { OverviewBody } from "./schemas.ts";

export interface OverviewDeps {
  /** What the service does now. */
  stats(): Promise<Stat[]>;
  processes(): Promise<ProcessInfo[]>;
  jobs: JobService;
}

const defineRoute = routesWith<OverviewDeps>();

export const overviewRoutes = [
  defineRoute({
    method: "GET",
    path: "/operator",
    summary: "The state of the service: rates, queues, processes",
    tag: "Operator",
    auth: "viewer",
    source: "OPS-06",
    responses: { 200: OverviewBody },
    errors: [],
    page: overviewPage,
    handler: async ({ deps }) => {
      const [stats, processes, queues] = await Promise.all([
        deps.stats(),
        deps.processes(),
        within<QueueBody[] | null>(deps.jobs.queues(), null),
      ]);
      return reply(200, {
        stats: stats.map(({ name, value, isBad }) => ({ name, value, is_bad: isBad })),
        queues,
        processes: processes.map(presentProcess),
      });
    },
  }),
];
