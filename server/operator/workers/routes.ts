import Type from "typebox";
import { reply, routesWith } from "../../http/pipeline/route.ts";
import { AppError } from "../../platform/errors.ts";
import {
  clockSkewMs,
  maxListedEvents,
  type ProcessEvents,
} from "../../features/processes/domain/process-events.ts";
import { timestamp, type Clock } from "../../platform/time/clock.ts";
import { backOr } from "../forms.ts";
import { within } from "../health/stores.ts";
import { eventsPage, eventsPath, workersPage, workersPath } from "./page.ts";
import { presentEvent } from "./events.ts";
import type { ProcessLoad } from "./loads.ts";
import { presentProcess, ProcessBody } from "./processes.ts";
import { EventsBody, EventsQuery, WorkersBody } from "./schemas.ts";
import { OptionalReasonBody } from "../schemas.ts";
import type { ProcessInfo } from "../../runtime/ipc.ts";
import type { DrainAnswer } from "../../runtime/questions.ts";
import type { WithAudit } from "../audit.ts";
import { roleOf } from "../roles.ts";

/** Events on the page of the workers. */
const numLastEvents = 50;
const dayMs = 86_400_000;

export interface WorkersDeps extends WithAudit {
  processes(): Promise<ProcessInfo[]>;
  /** By pid; a process that does not answer is left out. */
  loads(): Promise<ReadonlyMap<number, ProcessLoad>>;
  processEvents: ProcessEvents;
  clock: Clock;
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
    responses: { 200: WorkersBody },
    page: workersPage,
    errors: [],
    handler: async ({ deps }) => {
      const [processes, loads, events] = await Promise.all([
        deps.processes(),
        deps.loads(),
        within(deps.processEvents.last(numLastEvents), null),
      ]);
      return reply(200, {
        workers: processes.map((info) => ({
          ...presentProcess(info),
          memory_bytes: loads.get(info.pid)?.memoryBytes ?? null,
          loop_lag_ms: loads.get(info.pid)?.loopLagMs ?? null,
        })),
        events: events?.map(presentEvent) ?? null,
      });
    },
  }),
  defineRoute({
    method: "GET",
    path: eventsPath,
    tag,
    summary: "Starts, exits, freezes, drains and takeovers of processes, newest first, up to 500",
    auth: "viewer",
    source: "OPS-60",
    query: EventsQuery,
    responses: { 200: EventsBody },
    page: eventsPage,
    errors: ["worker:events_unavailable"],
    handler: async ({ deps: { processEvents, clock }, query }) => {
      const to = query.to === undefined ? clock.now() + clockSkewMs : Date.parse(query.to);
      const from = query.from === undefined ? to - dayMs : Date.parse(query.from);
      const events = await processEvents.between(from, to);
      const oldest = events.length < maxListedEvents ? undefined : events.at(-1);
      return reply(200, {
        events: events.map(presentEvent),
        // A whole second later, since several may have happened within one.
        older_than: oldest === undefined ? null : timestamp(oldest.atMs + 1_000),
      });
    },
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
