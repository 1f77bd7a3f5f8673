import Type, { type Static } from "typebox";
import type { Failure, FailureList, NewState } from "../../features/faults/domain/failures.ts";
import { reply, routesWith } from "../../http/pipeline/route.ts";
import { AppError } from "../../platform/errors.ts";
import { periodMs } from "../../platform/faults/batch.ts";
import { timestamp } from "../../platform/time/clock.ts";
import { roleOf } from "../roles.ts";
import { actionTable } from "./action-page.ts";
import { ActionBody } from "./action-schemas.ts";
import { failureActionRoutes, type ActionsDeps } from "./action-routes.ts";
import { failurePage, failuresPage } from "./page.ts";
import { failurePathOf, failuresPath } from "./paths.ts";
import { presentAction } from "./present-action.ts";
import { presentFailure } from "./present.ts";
import {
  FailureDetail,
  FailureParams,
  FailuresBody,
  FailuresQuery,
  NoteBody,
  StateBody,
} from "./schemas.ts";

/** What the routes do with groups of failures; see `server/features/faults/domain/failures.ts`. */
export interface FailureService {
  list(): Promise<FailureList>;
  find(id: string): Promise<Failure>;
  setState(id: string, decision: NewState & { by: string }): Promise<void>;
  setNote(id: string, decision: { note: string | null; by: string }): Promise<void>;
}

export interface FailuresDeps extends ActionsDeps {
  failures: FailureService;
}

const defineRoute = routesWith<FailuresDeps>();
const tag = "Operator";

/** The page that a browser sees after a change. */
const pageAfter = ({ params }: { params: { id: string } }) => failurePathOf(params.id);

const FailureAnswer = Type.Object({ failure: FailureDetail });
const FailureWithActions = Type.Object({
  ...FailureAnswer.properties,
  actions: Type.Union([Type.Array(ActionBody), Type.Null()], {
    description: "the newest retries and removals; null: Postgres does not respond",
  }),
});
const timeOrNull = (ms: number | null) => (ms === null ? null : timestamp(ms));

const detailOf = (failure: Failure) => ({
  ...presentFailure(failure),
  period_seconds: periodMs / 1_000,
  periods_from: timestamp(failure.periodsFromMs),
  periods: failure.periods,
});

function decisionOf({ state, until, hours, more }: Static<typeof StateBody>): NewState {
  const times = [until, hours].filter((time) => time !== undefined);
  if (times.length > 1) throw new AppError("failure:state_invalid");
  if (state !== "ignored") {
    if (times.length > 0 || more !== undefined) throw new AppError("failure:state_invalid");
    return { state };
  }
  const end = until === undefined ? null : new Date(until);
  return { state, until: end, hours: hours ?? null, more: more ?? null };
}

/** Groups of failures (OPS-20 to OPS-23). Every change is in the audit log before it is made (S16). */
export const failureRoutes = [
  defineRoute({
    method: "GET",
    path: failuresPath,
    tag,
    summary: "Groups of equal failures, what is wrong now first",
    auth: "viewer",
    source: "OPS-20, OPS-23",
    query: FailuresQuery,
    responses: { 200: FailuresBody },
    page: failuresPage,
    errors: ["failure:store_unavailable"],
    handler: async ({ deps: { failures }, query }) => {
      const { failures: all, hasStates, ...rest } = await failures.list();
      const shown = all.filter(({ state }) => query.state === undefined || state === query.state);
      return reply(200, {
        failures: shown.map(presentFailure),
        has_states: hasStates,
        older_than: timeOrNull(rest.groupsFromMs),
        failed_jobs_since: timeOrNull(rest.jobsFromMs),
        num_dropped: rest.numDropped,
      });
    },
  }),
  defineRoute({
    method: "GET",
    path: `${failuresPath}/{id}`,
    tag,
    summary: "One group: its cause, jobs, players, occurrences and an example",
    auth: "viewer",
    source: "OPS-20, OPS-23",
    page: failurePage,
    remainder: async ({ deps, params }) =>
      actionTable((await deps.failureActions.list(params.id))?.map(presentAction) ?? null),
    params: FailureParams,
    notFoundCode: "failure:not_found",
    responses: { 200: FailureWithActions },
    errors: ["failure:not_found", "failure:store_unavailable"],
    handler: async ({ deps: { failures, failureActions }, params: { id } }) => {
      const [failure, actions] = await Promise.all([failures.find(id), failureActions.list(id)]);
      return reply(200, {
        failure: detailOf(failure),
        actions: actions === null ? null : actions.map(presentAction),
      });
    },
  }),
  defineRoute({
    method: "POST",
    path: `${failuresPath}/{id}/state`,
    tag,
    summary: "Resolve, ignore or reopen a group",
    auth: roleOf("failure:resolved"),
    source: "OPS-23, S16",
    params: FailureParams,
    notFoundCode: "failure:not_found",
    body: StateBody,
    pageAfter,
    responses: { 200: FailureAnswer },
    errors: ["failure:not_found", "failure:store_unavailable", "failure:state_invalid"],
    handler: async ({ deps: { failures, audit }, params: { id }, body, ...by }) => {
      await failures.find(id);
      const { state, reason } = body;
      const decision = decisionOf(body);
      await audit(by, { action: `failure:${state}`, target: `failure ${id}`, reason }, () =>
        failures.setState(id, { ...decision, by: by.caller.name }),
      );
      return reply(200, { failure: detailOf(await failures.find(id)) });
    },
  }),
  defineRoute({
    method: "POST",
    path: `${failuresPath}/{id}/note`,
    tag,
    summary: "Write or remove the note of a group",
    auth: roleOf("failure:note"),
    source: "OPS-23, S16",
    params: FailureParams,
    notFoundCode: "failure:not_found",
    body: NoteBody,
    pageAfter,
    responses: { 200: FailureAnswer },
    errors: ["failure:not_found", "failure:store_unavailable"],
    handler: async ({ deps: { failures, audit }, params: { id }, body, ...by }) => {
      await failures.find(id);
      const note = body.note.trim() === "" ? null : body.note;
      await audit(by, { action: "failure:note", target: `failure ${id}` }, () =>
        failures.setNote(id, { note, by: by.caller.name }),
      );
      return reply(200, { failure: detailOf(await failures.find(id)) });
    },
  }),
  ...failureActionRoutes,
];
