import { readdirSync, readFileSync } from "node:fs";
import { extname, join, sep } from "node:path";
import type { Queue } from "bullmq";
import Type from "typebox";
import type { OperatorCaller } from "../../http/auth/auth.ts";
import { parseJsonObject, readForm } from "../../http/pipeline/body.ts";
import {
  bytesReply,
  media,
  redirect,
  routesWith,
  seeOtherReply,
  type RequestInfo,
  type Route,
  type RouteRecord,
} from "../../http/pipeline/route.ts";
import { AppError } from "../../platform/errors.ts";
import { outcomeOfStatus, type WithAudit } from "../audit.ts";
import type { JobTimes } from "../../platform/job-times/store.ts";
import { maskData } from "../../platform/text/masking.ts";
import { maskLogLine } from "../../platform/text/job-log-line.ts";
import { actions, mayMake } from "../roles.ts";
import {
  createBoard,
  renderBoard,
  type Board,
  type BoardAnswer,
  type BoardRoute,
} from "./board.ts";
import { boardChanges } from "./changes.ts";
import { reasonPage } from "./page.ts";
import { boardPath } from "./paths.ts";
import { reasonCookie, reasonOf } from "./reason.ts";

const defineRoute = routesWith<WithAudit>();
const common = { tag: "Operator", source: "OPS-03, OPS-07", errors: [] } as const;
const htmlType = "text/html; charset=utf-8";
const jsonType = "application/json; charset=utf-8";
const page = media("text/html");
/** Cleaning and retrying go through all jobs of a queue. */
const changeDeadlineMs = 60_000;

/**
 * The queue board as routes: its level of access, audit record and log line are those of any other endpoint. Its
 * answers have no envelope, because its own script reads them.
 */
export function boardRoutes(
  queues: readonly Queue[],
  times: Pick<JobTimes, "series">,
): Route<WithAudit>[] {
  const boards = {
    shown: createBoard(queues, times, true),
    changed: createBoard(queues, times, false),
  };
  return [
    ...pageRoutes(boards),
    ...staticRoutes(boards.shown.staticDir),
    ...boards.changed.api.flatMap((route) => apiRoutes(boards, route)),
    ...reasonRoutes,
  ];
}

interface Boards {
  /** Without buttons: for all but an admin who has stated a reason. */
  shown: Board;
  changed: Board;
}

const boardFor = ({ shown, changed }: Boards, request: RequestInfo, { role }: OperatorCaller) =>
  mayMake(role, "queue:obliterate") && reasonOf(request) !== "" ? changed : shown;

/** `/api/queues/:queueName/pause` -> `/operator/queues/board/api/queues/{queueName}/pause` */
const pathOf = (path: string) =>
  path === "/" ? boardPath : boardPath + path.replace(/:(\w+)/g, "{$1}");

function pageRoutes({ shown }: Boards): Route<WithAudit>[] {
  const markup = renderBoard(shown);
  return [shown.view.route].flat().map((path) =>
    defineRoute({
      ...common,
      method: "GET",
      path: pathOf(path),
      summary: "The queue board",
      auth: "viewer",
      responses: { 200: page },
      handler: () => bytesReply(200, htmlType, markup),
    }),
  );
}

const contentTypes: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".json": jsonType,
  ".woff2": "font/woff2",
};

/** Scripts and styles of the package by their names, so that no path of a request reaches the file system. */
function staticRoutes(folder: string): Route<WithAudit>[] {
  const names = new Set(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1)),
  );
  const depths = [...new Set([...names].map((name) => name.split(sep).length))];
  return depths.map((depth) => {
    const parts = Array.from({ length: depth }, (_, i) => `part${i}`);
    return defineRoute({
      ...common,
      method: "GET",
      path: `${boardPath}/static/${parts.map((part) => `{${part}}`).join("/")}`,
      summary: "A file of the queue board",
      auth: "viewer",
      params: Type.Object(Object.fromEntries(parts.map((part) => [part, Type.String()]))),
      responses: { 200: media("text/javascript") },
      handler: ({ params }) => {
        const values = params as Readonly<Record<string, string>>;
        const name = parts.map((part) => values[part] ?? "").join(sep);
        const type = contentTypes[extname(name)];
        if (type === undefined || !names.has(name)) throw new AppError("route:not_found");
        const cached: [string, string][] = [["Cache-Control", "private, max-age=3600"]];
        return bytesReply(200, type, readFileSync(join(folder, name)), cached);
      },
    });
  });
}

function apiRoutes(boards: Boards, route: BoardRoute): Route<WithAudit>[] {
  const methods = [route.method].flat();
  const paths = [route.route].flat();
  return methods.flatMap((method) => paths.map((path) => apiRoute(boards, route, method, path)));
}

/** Throws for a change that the table of roles does not have, such as one of a newer version of the package. */
function apiRoute(
  boards: Boards,
  route: BoardRoute,
  method: string,
  path: string,
): Route<WithAudit> {
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name = ""]) => name);
  const action = boardChanges[`${method} ${path}`];
  if (method !== "get" && action === undefined)
    throw new Error(`server/operator/board/changes.ts lacks ${method} ${path}`);
  return defineRoute({
    ...common,
    method: method.toUpperCase() as RouteRecord["method"],
    path: pathOf(path),
    summary: route.spec.summary,
    auth: action === undefined ? "viewer" : actions[action].role,
    params: Type.Object(Object.fromEntries(names.map((name) => [name, Type.String()]))),
    deadlineMs: changeDeadlineMs,
    responses: { 200: media("application/json") },
    handler: async ({ deps, params, request, caller }) => {
      if (action === undefined)
        return answerOf(await run(boardFor(boards, request, caller), route, request, params));
      const reason = reasonOf(request);
      if (actions[action].needsReason && reason === "") throw new AppError("board:reason_missing");
      const change = { action, target: targetOf(request.path), reason };
      // The package answers its refusals instead of throwing them.
      const outcomeOf = ({ status = 200 }: BoardAnswer) => outcomeOfStatus(status);
      const answer = await deps.audit({ caller, request }, { ...change, outcomeOf }, () =>
        run(boards.changed, route, request, params),
      );
      return answerOf(answer);
    },
  });
}

/** What a change concerns, as the board names it. */
const targetOf = (path: string) => `board ${path.slice(`${boardPath}/api/`.length)}`;

async function run(
  board: Board,
  { handler }: BoardRoute,
  request: RequestInfo,
  params: object,
): Promise<BoardAnswer> {
  const { queues, uiConfig, onError } = board;
  const query = queryOf(new URLSearchParams(request.query));
  const body = parseJsonObject(request.body);
  try {
    return await handler({ queues, uiConfig, query, params, body, headers: {} });
  } catch (error) {
    return onError(error instanceof Error ? error : new Error(String(error)));
  }
}

/** Job fields with error texts, besides the fields that the dashboard lets us format. */
const reportedByFailures = new Set(["failedReason", "stacktrace", "ignoredChildFailureReasons"]);

function answerOf({ status = 200, body }: BoardAnswer) {
  // A plain list of texts is the log of a job.
  const shown: unknown = Array.isArray(body) ? body.map(String).map(maskLogLine) : (body ?? {});
  const text =
    typeof body === "string"
      ? body
      : JSON.stringify(shown, (name, value: unknown) =>
          reportedByFailures.has(name) ? maskData(value) : value,
        );
  return bytesReply(status as 200, jsonType, status === 204 ? "" : text);
}

function queryOf(query: URLSearchParams): Record<string, string | string[]> {
  return Object.fromEntries(
    [...new Set(query.keys())].map((name) => {
      const values = query.getAll(name);
      return [name, values.length === 1 ? (values[0] ?? "") : values];
    }),
  );
}

const reasonPath = `${boardPath}/reason`;

const reasonRoutes: Route<WithAudit>[] = [
  defineRoute({
    ...common,
    method: "GET",
    path: reasonPath,
    summary: "The form for the reason of changes on the queue board",
    auth: "admin",
    responses: { 200: page },
    handler: ({ caller }) => bytesReply(200, htmlType, reasonPage(caller).markup),
  }),
  defineRoute({
    ...common,
    method: "POST",
    path: reasonPath,
    summary: "State the reason of the next changes on the queue board",
    auth: "admin",
    urlForm: Type.Object({ reason: Type.String({ minLength: 1, maxLength: 500 }) }),
    responses: { 303: redirect },
    errors: ["board:reason_missing"],
    handler: ({ request }) => {
      const reason = readForm(request.body).get("reason")?.trim() ?? "";
      if (reason === "" || reason.length > 500) throw new AppError("board:reason_missing");
      return seeOtherReply(boardPath, [["Set-Cookie", reasonCookie(reason)]]);
    },
  }),
];
