import Type from "typebox";
import type { Failure, FailureList, NewState } from "../../features/faults/domain/failures.ts";
import { reply, routesWith } from "../../http/pipeline/route.ts";
import { AppError } from "../../platform/errors.ts";
import { periodMs } from "../../platform/faults/batch.ts";
import { timestamp } from "../../platform/time/clock.ts";
import type { WithAudit } from "../audit.ts";
import { roleOf } from "../roles.ts";
import { failurePage, failurePathOf, failuresPage, failuresPath } from "./page.ts";
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

export interface FailuresDeps extends WithAudit {
  failures: FailureService;
}

const defineRoute = routesWith<FailuresDeps>();
const tag = "Operator";

/** The page that a browser sees after a change. */
const pageAfter = ({ params }: { params: { id: string } }) => failurePathOf(params.id);

const FailureAnswer = Type.Object({ failure: FailureDetail });
const timeOrNull = (ms: number | null) => (ms === null ? null : timestamp(ms));

const detailOf = (failure: Failure) => ({
  ...presentFailure(failure),
  period_seconds: periodMs / 1_000,
  periods_from: timestamp(failure.periodsFromMs),
  periods: failure.periods,
});

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
    params: FailureParams,
    notFoundCode: "failure:not_found",
    responses: { 200: FailureAnswer },
    errors: ["failure:not_found", "failure:store_unavailable"],
    handler: async ({ deps: { failures }, params }) =>
      reply(200, { failure: detailOf(await failures.find(params.id)) }),
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
    handler: async ({ deps: { failures, audit }, params: { id }, body, caller }) => {
      await failures.find(id);
      const { state, until, more, reason } = body;
      if (state !== "ignored" && (until !== undefined || more !== undefined))
        throw new AppError("failure:state_invalid");
      const decision: NewState =
        state === "ignored"
          ? { state, until: until === undefined ? null : new Date(until), more: more ?? null }
          : { state };
      await audit(caller, { action: `failure:${state}`, target: `failure ${id}`, reason });
      await failures.setState(id, { ...decision, by: caller.name });
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
    handler: async ({ deps: { failures, audit }, params: { id }, body, caller }) => {
      await failures.find(id);
      const note = body.note.trim() === "" ? null : body.note;
      await audit(caller, { action: "failure:note", target: `failure ${id}` });
      await failures.setNote(id, { note, by: caller.name });
      return reply(200, { failure: detailOf(await failures.find(id)) });
    },
  }),
];
