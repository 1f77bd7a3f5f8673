import Type from "typebox";
import { reply, routesWith } from "../../http/pipeline/route.ts";
import { AppError } from "../../platform/errors.ts";
import { backOr } from "../forms.ts";
import { workersPage, workersPath } from "./page.ts";
import { presentProcess, ProcessBody } from "./processes.ts";
import { OptionalReasonBody } from "../schemas.ts";
import type { ProcessInfo } from "../../runtime/ipc.ts";
import type { DrainAnswer } from "../../runtime/questions.ts";
import type { WithAudit } from "../audit.ts";
import { roleOf } from "../roles.ts";

export interface WorkersDeps extends WithAudit {
  processes(): Promise<ProcessInfo[]>;
  /** Null if the primary does not respond. */
  drain(index: number): Promise<DrainAnswer | null>;
}

const defineRoute = routesWith<WorkersDeps>();
const tag = "Operator";

/** The processes of the service (OPS-04). A drain is recorded in the audit log before it begins (S16). */
export const workerRoutes = [
  defineRoute({
    method: "GET",
    path: workersPath,
    tag,
    summary: "Processes and their restarts",
    auth: "viewer",
    source: "OPS-04",
    responses: { 200: Type.Object({ workers: Type.Array(ProcessBody) }) },
    page: workersPage,
    errors: [],
    handler: async ({ deps }) =>
      reply(200, { workers: (await deps.processes()).map(presentProcess) }),
  }),
  defineRoute({
    method: "POST",
    path: `${workersPath}/{index}/drain`,
    tag,
    summary: "Hand over the rooms and streams of an HTTP worker, stop it and start its successor",
    auth: roleOf("worker:drain"),
    source: "OPS-04, S16, S41",
    params: Type.Object({ index: Type.Integer({ minimum: 0, maximum: 1_023 }) }),
    notFoundCode: "worker:not_found",
    body: OptionalReasonBody,
    pageAfter: backOr(workersPath),
    responses: { 202: Type.Object({ worker: ProcessBody }) },
    errors: ["worker:not_found", "worker:not_ready", "worker:last"],
    handler: async ({ deps, params: { index }, body, ...by }) => {
      const found = await findWorker(deps, index);
      const { reason = "" } = body;
      await deps.audit(
        by,
        { action: "worker:drain", target: `http ${index}`, reason },
        async () => {
          const answer = await deps.drain(index);
          if (answer === null) throw new AppError("server:unavailable");
          if (answer !== "draining") throw new AppError(`worker:${answer}`);
        },
      );
      return reply(202, { worker: presentProcess(found) });
    },
  }),
];

async function findWorker({ processes }: Pick<WorkersDeps, "processes">, wanted: number) {
  const found = (await processes()).find(({ role, index }) => role === "http" && index === wanted);
  if (!found) throw new AppError("worker:not_found");
  return found;
}
