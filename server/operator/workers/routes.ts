import Type from "typebox";
import { reply } from "../../http/pipeline/route.ts";
import { AppError } from "../../platform/errors.ts";
import { defineOperatorRoute } from "../define.ts";
import { presentProcess, ProcessBody } from "./processes.ts";
import { OptionalReasonBody } from "../schemas.ts";
import type { Sources } from "../deps.ts";

/** The processes of the service (OPS-04). A drain is recorded in the audit log before it begins (S16). */
export const workerRoutes = (sources: Pick<Sources, "processes" | "drain" | "audit">) => [
  defineOperatorRoute({
    method: "GET",
    path: "/operator/workers",
    summary: "Processes and their restarts",
    auth: "viewer",
    source: "OPS-04",
    responses: { 200: Type.Object({ workers: Type.Array(ProcessBody) }) },
    errors: [],
    handler: async () => reply(200, { workers: (await sources.processes()).map(presentProcess) }),
  }),
  defineOperatorRoute({
    method: "POST",
    path: "/operator/workers/{index}/drain",
    summary: "Hand over the rooms and streams of an HTTP worker, stop it and start its successor",
    auth: "operator",
    source: "OPS-04, S16, S41",
    params: Type.Object({ index: Type.Integer({ minimum: 0, maximum: 1_023 }) }),
    notFoundCode: "worker:not_found",
    body: OptionalReasonBody,
    responses: { 202: Type.Object({ worker: ProcessBody }) },
    errors: ["worker:not_found", "worker:not_ready", "worker:last"],
    handler: async ({ params: { index }, body, caller }) => {
      const found = await findWorker(sources, index);
      await sources.audit(caller, { action: "worker:drain", target: `http ${index}`, ...body });
      const answer = await sources.drain(index);
      if (answer === null) throw new AppError("server:unavailable");
      if (answer !== "draining") throw new AppError(`worker:${answer}`);
      return reply(202, { worker: presentProcess(found) });
    },
  }),
];

async function findWorker({ processes }: Pick<Sources, "processes">, wanted: number) {
  const found = (await processes()).find(({ role, index }) => role === "http" && index === wanted);
  if (!found) throw new AppError("worker:not_found");
  return found;
}
