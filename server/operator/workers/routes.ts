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
import { presentProcess, ProcessBody } from "./processes.ts";
import { EventsBody, EventsQuery, WorkersBody } from "./schemas.ts";
import type { FleetProcesses, InstanceProcesses } from "../fleet/sources.ts";
import { OptionalReasonBody } from "../schemas.ts";
import type { DrainAnswer, DrainQuestion } from "../../runtime/process-questions.ts";
import type { WithAudit } from "../audit.ts";
import { roleOf } from "../roles.ts";

/** Events on the page of the workers. */
const numLastEvents = 50;
const dayMs = 86_400_000;

export interface WorkersDeps extends WithAudit {
  fleetProcesses: FleetProcesses;
  processEvents: ProcessEvents;
  clock: Clock;
  drain(order: DrainQuestion): Promise<DrainAnswer>;
}

const DrainBody = Type.Object({
  ...OptionalReasonBody.properties,
  service: Type.Optional(
    Type.String({
      maxLength: 64,
      description: "id of the instance of the worker; default: the one that is asked",
    }),
  ),
});
const drainErrors = [
  "worker:not_found",
  "worker:not_ready",
  "worker:last",
  "worker:instance_not_found",
  "worker:instance_unreachable",
  "worker:unconfirmed",
] as const;

const defineRoute = routesWith<WorkersDeps>();
const tag = "Operator";

/** The processes of all instances (OPS-04). A drain is recorded in the audit log before it begins (S16). */
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
      const [instances, figures, events] = await Promise.all([
        deps.fleetProcesses.list(),
        deps.fleetProcesses.figures(),
        within(deps.processEvents.last(numLastEvents), null),
      ]);
      return reply(200, {
        workers: instances.flatMap(({ service, host, processes }) =>
          (processes ?? []).map((info) => {
            const { memoryBytes = null, loopLagMs = null } = figures.get(info.instance?.id) ?? {};
            const load = { memory_bytes: memoryBytes, loop_lag_ms: loopLagMs };
            return { service, host, ...presentProcess(info), ...load };
          }),
        ),
        unanswered: instances
          .filter(({ processes }) => processes === null)
          .map(({ service, host }) => ({ service, host })),
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
    body: DrainBody,
    pageAfter: backOr(workersPath),
    responses: { 202: Type.Object({ worker: ProcessBody }) },
    errors: drainErrors,
    handler: async ({ deps, params: { index }, body, ...by }) => {
      const { reason = "", service: instance } = body;
      const found = await findWorker(deps, { index, instance });
      const target = instance === undefined ? `http ${index}` : `http ${index} of ${instance}`;
      // An order that nobody has confirmed stays started in the audit log.
      const outcomeOf = (isConfirmed: boolean) => (isConfirmed ? "done" : "started");
      const change = { action: "worker:drain", target, reason, outcomeOf } as const;
      const isConfirmed = await deps.audit(by, change, async () => {
        const answer = await deps.drain({ index, instance });
        if (answer !== "draining" && answer !== "unconfirmed")
          throw new AppError(`worker:${answer}`);
        return answer === "draining";
      });
      if (!isConfirmed) throw new AppError("worker:unconfirmed");
      return reply(202, { worker: presentProcess(found) });
    },
  }),
];

async function findWorker(
  { fleetProcesses }: Pick<WorkersDeps, "fleetProcesses">,
  { index, instance }: DrainQuestion,
) {
  const instances = await fleetProcesses.list();
  const isMeant = ({ service }: InstanceProcesses) => service === instance;
  const owner = instance === undefined ? instances[0] : instances.find(isMeant);
  if (instances.length === 0) throw new AppError("server:unavailable");
  if (!owner) throw new AppError("worker:instance_not_found");
  if (owner.processes === null) throw new AppError("worker:instance_unreachable");
  const found = owner.processes.find((one) => one.role === "http" && one.index === index);
  if (!found) throw new AppError("worker:not_found");
  return found;
}
