import Type from "typebox";
import type { FaultAction } from "../../../db/entities/fault-action.ts";
import { maxRate } from "../../features/faults/domain/action-bounds.ts";
import type { ActionPreview, NewAction } from "../../features/faults/domain/actions.ts";
import type { OperatorCaller } from "../../http/auth/auth.ts";
import { reply, routesWith, type RequestInfo } from "../../http/pipeline/route.ts";
import { timestamp } from "../../platform/time/clock.ts";
import type { WithAudit } from "../audit.ts";
import { roleOf } from "../roles.ts";
import { OptionalReasonBody } from "../schemas.ts";
import { actionPage, actionPathOf, effectOf, previewPage } from "./action-page.ts";
import {
  ActionBody,
  ActionParams,
  PreviewBody,
  PreviewQuery,
  RemoveBody,
  RetryBody,
} from "./action-schemas.ts";
import { failuresPath } from "./paths.ts";
import { presentAction } from "./present-action.ts";
import { FailureParams } from "./schemas.ts";

/** What the routes do with actions on groups; see `server/features/faults/domain/actions.ts`. */
export interface ActionService {
  preview(groupId: string): Promise<ActionPreview>;
  start(groupId: string, action: NewAction): Promise<FaultAction>;
  /** Null while Postgres is away. */
  list(groupId: string): Promise<FaultAction[] | null>;
  find(groupId: string, id: number): Promise<FaultAction>;
  cancel(groupId: string, id: number): Promise<FaultAction>;
}

export interface ActionsDeps extends WithAudit {
  failureActions: ActionService;
}

const defineRoute = routesWith<ActionsDeps>();
const tag = "Operator";
const ActionAnswer = Type.Object({ action: ActionBody });

const pageAfter = ({ body: { action } }: { body: { action: ActionBody } }) =>
  actionPathOf(action.failure_id, action.id);

const starting = {
  method: "POST",
  tag,
  source: "OPS-50, OPS-51, OPS-52, S16",
  params: FailureParams,
  notFoundCode: "failure:not_found",
  responses: { 202: ActionAnswer },
  pageAfter,
  errors: [
    ...(["failure:not_found", "failure:store_unavailable", "failure:no_jobs"] as const),
    ...(["failure:action_open", "failure:actions_full"] as const),
  ],
} as const;

const numOf = ({ numJobs }: FaultAction) => numJobs;

/** Whose action it is, and by which request. */
const madeBy = ({ caller, request }: { caller: OperatorCaller; request: RequestInfo }) => ({
  by: caller.name,
  requestId: request.id,
});

/** Retry or remove the failed jobs of a group (OPS-50 to OPS-53). */
export const failureActionRoutes = [
  defineRoute({
    method: "GET",
    path: `${failuresPath}/{id}/preview`,
    tag,
    summary: "What retrying or removing the failed jobs of a group would change",
    auth: "viewer",
    source: "OPS-50",
    params: FailureParams,
    notFoundCode: "failure:not_found",
    query: PreviewQuery,
    responses: { 200: Type.Object({ preview: PreviewBody }) },
    page: previewPage,
    errors: ["failure:not_found", "failure:store_unavailable", "failure:no_jobs"],
    handler: async ({ deps: { failureActions }, params: { id }, query: { action } }) => {
      const { failure, numJobs, numLeftOut, oldestMs } = await failureActions.preview(id);
      const preview = {
        failure_id: id,
        action,
        queue: failure.key.place,
        num_jobs: numJobs,
        num_left_out: numLeftOut,
        oldest_failed_at: oldestMs === null ? null : timestamp(oldestMs),
        num_players: failure.numPlayers,
        effect: effectOf(action),
      };
      return reply(200, { preview });
    },
  }),
  defineRoute({
    ...starting,
    path: `${failuresPath}/{id}/retry`,
    summary: "Run the jobs again that have failed in this group now; the first ten decide",
    auth: roleOf("failure:retry"),
    body: RetryBody,
    handler: async ({ deps: { failureActions, audit }, params: { id }, body, ...by }) => {
      const { reason, rate } = body;
      const given = { kind: "retry", rate, reason, ...madeBy(by) } as const;
      const change = { action: "failure:retry", target: `failure ${id}`, reason } as const;
      const action = await audit(by, { ...change, countOf: numOf }, () =>
        failureActions.start(id, given),
      );
      return reply(202, { action: presentAction(action) });
    },
  }),
  defineRoute({
    ...starting,
    path: `${failuresPath}/{id}/remove`,
    summary: "Remove the jobs that have failed in this group now",
    auth: roleOf("failure:remove"),
    body: RemoveBody,
    handler: async ({ deps: { failureActions, audit }, params: { id }, body, ...by }) => {
      const { reason } = body;
      const given = { kind: "remove", rate: maxRate, reason, ...madeBy(by) } as const;
      const change = { action: "failure:remove", target: `failure ${id}`, reason } as const;
      const action = await audit(by, { ...change, countOf: numOf }, () =>
        failureActions.start(id, given),
      );
      return reply(202, { action: presentAction(action) });
    },
  }),
  defineRoute({
    method: "GET",
    path: `${failuresPath}/{id}/actions/{action}`,
    tag,
    summary: "One retry or removal: how far it is, and its result",
    auth: "viewer",
    source: "OPS-50, OPS-52",
    params: ActionParams,
    notFoundCode: "failure:action_not_found",
    responses: { 200: ActionAnswer },
    page: actionPage,
    errors: ["failure:action_not_found"],
    handler: async ({ deps: { failureActions }, params: { id, action } }) =>
      reply(200, { action: presentAction(await failureActions.find(id, action)) }),
  }),
  defineRoute({
    method: "POST",
    path: `${failuresPath}/{id}/actions/{action}/cancel`,
    tag,
    summary: "Stop a retry or removal; what it has done stays",
    auth: roleOf("failure:cancel"),
    source: "OPS-50, S16",
    params: ActionParams,
    notFoundCode: "failure:action_not_found",
    body: OptionalReasonBody,
    responses: { 202: ActionAnswer },
    pageAfter,
    errors: ["failure:action_not_found", "failure:action_ended"],
    handler: async ({ deps: { failureActions, audit }, params, body, ...by }) => {
      const { id, action: number } = params;
      await failureActions.find(id, number);
      const target = `failure ${id} action ${number}`;
      const { reason = "" } = body;
      const action = await audit(by, { action: "failure:cancel", target, reason }, () =>
        failureActions.cancel(id, number),
      );
      return reply(202, { action: presentAction(action) });
    },
  }),
];
