import Type from "typebox";
import { reply, routesWith } from "../../http/pipeline/route.ts";
import type { ProcessInfo } from "../../runtime/ipc.ts";
import { within } from "../health/stores.ts";
import type { JobService } from "../jobs/service.ts";
import { QueueBody } from "../schemas.ts";
import { presentProcess, ProcessBody } from "../workers/processes.ts";
import type { Stat } from "./dashboard.ts";
import { overviewPage } from "./page.ts";

export interface OverviewDeps {
  /** What the service does now. */
  stats(): Promise<Stat[]>;
  processes(): Promise<ProcessInfo[]>;
  jobs: JobService;
}

const defineRoute = routesWith<OverviewDeps>();

export const OverviewBody = Type.Object({
  stats: Type.Array(
    Type.Object({
      name: Type.String(),
      value: Type.String(),
      is_bad: Type.Boolean({ description: "an operator has to act" }),
    }),
  ),
  queues: Type.Union([Type.Array(QueueBody), Type.Null()], {
    description: "null if their store does not respond",
  }),
  processes: Type.Array(ProcessBody),
});

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
