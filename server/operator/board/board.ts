import { readFile } from "node:fs/promises";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, extname, join, normalize } from "node:path";
import { createBullBoard } from "@bull-board/api";
import { BullMQAdapter } from "@bull-board/api/bullMQAdapter";
import type {
  AppControllerRoute,
  AppViewRoute,
  BullBoardQueues,
  BullBoardRequest,
  ControllerHandlerReturnType,
  IServerAdapter,
  UIConfig,
} from "@bull-board/api/dist/types.js";
import type { Queue } from "bullmq";
import { withoutMark } from "../../platform/text/text-file.ts";
import { AppError } from "../../platform/errors.ts";
import { html, type OperatorReply, type OperatorRequest } from "../exchange.ts";
import { findJob } from "../jobs/service.ts";
import { maskData } from "../jobs/masking.ts";

/** Job fields with error texts, besides the fields that the dashboard lets us format. */
const reportedByFailures = new Set(["failedReason", "stacktrace", "ignoredChildFailureReasons"]);

export const boardPath = "/operator/queues/board";

export const isBoardPath = (path: string): boolean =>
  path === boardPath || path.startsWith(`${boardPath}/`);

interface ApiRoute {
  method: string;
  segments: string[];
  handler: AppControllerRoute["handler"];
}

const contentTypes: Record<string, string> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".json": "application/json; charset=utf-8",
  ".woff2": "font/woff2",
};

/** Adapter between the dashboard package and our HTTP server. */
class BoardAdapter implements IServerAdapter {
  queues: BullBoardQueues = new Map();
  uiConfig: UIConfig = {};
  staticDir = "";
  viewsDir = "";
  entry: AppViewRoute | null = null;
  api: ApiRoute[] = [];
  onError: (error: Error) => ControllerHandlerReturnType = () => ({ status: 500, body: "" });

  setQueues(queues: BullBoardQueues): this {
    this.queues = queues;
    return this;
  }
  setViewsPath(dir: string): this {
    this.viewsDir = dir;
    return this;
  }
  setStaticPath(_route: string, dir: string): this {
    this.staticDir = dir;
    return this;
  }
  setEntryRoute(route: AppViewRoute): this {
    this.entry = route;
    return this;
  }
  setErrorHandler(handler: (error: Error) => ControllerHandlerReturnType): this {
    this.onError = handler;
    return this;
  }
  setApiRoutes(routes: AppControllerRoute[]): this {
    this.api = routes.flatMap(({ method, route, handler }) =>
      [method]
        .flat()
        .flatMap((verb) =>
          [route]
            .flat()
            .map((path) => ({ method: verb.toUpperCase(), segments: path.split("/"), handler })),
        ),
    );
    return this;
  }
  setUIConfig(config: UIConfig): this {
    this.uiConfig = config;
    return this;
  }
}

/** Handles every request under `boardPath`; throws `route:not_found`. */
export type Board = (request: OperatorRequest) => Promise<OperatorReply>;

export function createBoard(queues: Queue[]): Board {
  const adapter = new BoardAdapter();
  const uiBasePath = dirname(createRequire(import.meta.url).resolve("@bull-board/ui/package.json"));
  createBullBoard({
    queues: queues.map(adapterOf),
    serverAdapter: adapter,
    options: { uiBasePath, uiConfig: { boardTitle: "Queues", hideDocsLink: true } },
  });
  const page = renderPage(adapter);
  return async (request) => {
    const path = request.path.slice(boardPath.length);
    if (path.startsWith("/static/"))
      return staticFile(adapter.staticDir, path.slice("/static/".length));
    if (path.startsWith("/api/")) return callApi(adapter, path, request);
    return html(page);
  };
}

/** Masks personal data and secrets in jobs, as the endpoints do (OPS-03). */
function adapterOf(queue: Queue): BullMQAdapter {
  const adapter = new BullMQAdapter(queue);
  adapter.getJob = (id) => findJob(queue, id);
  adapter.setFormatter("data", maskData);
  adapter.setFormatter("returnValue", maskData);
  return adapter;
}

/**
 * The template loads fonts from another site. They are removed, so that the page works offline and stays
 * private.
 */
function renderPage(adapter: BoardAdapter): string {
  const view = adapter.entry?.handler({ basePath: boardPath, uiConfig: adapter.uiConfig });
  if (!view) throw new Error("the queue dashboard has no page");
  const template = readFileSync(join(adapter.viewsDir, view.name), "utf8");
  const params = view.params;
  return template
    .replace(/<link[^>]*fonts\.googleapis\.com[^>]*>/g, "")
    .replace(/<%-\s*(\w+)\s*%>/g, (_all, name: string) => params[name] ?? "")
    .replace(/<%=\s*(\w+)\s*%>/g, (_all, name: string) => escapeHtml(params[name] ?? ""));
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

async function staticFile(root: string, name: string): Promise<OperatorReply> {
  const file = normalize(join(root, name));
  const type = contentTypes[extname(file)];
  if (!file.startsWith(root) || type === undefined) throw new AppError("route:not_found");
  try {
    const bytes = await readFile(file);
    const headers = { "Cache-Control": "private, max-age=3600" };
    return { status: 200, content: { kind: "raw", type, bytes }, headers };
  } catch {
    throw new AppError("route:not_found");
  }
}

async function callApi(
  adapter: BoardAdapter,
  path: string,
  request: OperatorRequest,
): Promise<OperatorReply> {
  const body = parseBody(request.body);
  if (body === null) throw new AppError("request:malformed_json");
  for (const route of adapter.api) {
    const params =
      route.method === request.method ? matchPath(route.segments, path.split("/")) : null;
    if (params === null) continue;
    const call: BullBoardRequest = {
      queues: adapter.queues,
      uiConfig: adapter.uiConfig,
      query: queryOf(new URLSearchParams(request.query)),
      params,
      body,
      headers: {},
    };
    return boardReply(await run(adapter, route, call));
  }
  throw new AppError("route:not_found");
}

async function run(adapter: BoardAdapter, route: ApiRoute, call: BullBoardRequest) {
  try {
    return await route.handler(call);
  } catch (error) {
    return adapter.onError(error instanceof Error ? error : new Error(String(error)));
  }
}

/** Responses are not wrapped in the envelope, because the dashboard's own script reads them. */
function boardReply({ status = 200, body }: ControllerHandlerReturnType): OperatorReply {
  // A plain list of texts is the log of a job.
  const shown = Array.isArray(body) ? maskData(body) : (body ?? {});
  const bytes =
    typeof body === "string"
      ? body
      : JSON.stringify(shown, (name, value: unknown) =>
          reportedByFailures.has(name) ? maskData(value) : value,
        );
  return {
    status,
    content: {
      kind: "raw",
      type: "application/json; charset=utf-8",
      bytes: status === 204 ? "" : bytes,
    },
  };
}

function matchPath(pattern: string[], path: string[]): Record<string, string> | null {
  if (pattern.length !== path.length) return null;
  const params: Record<string, string> = {};
  for (const [index, part] of pattern.entries()) {
    const value = path[index] ?? "";
    if (part.startsWith(":")) params[part.slice(1)] = decode(value);
    else if (part !== value) return null;
  }
  return params;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function queryOf(query: URLSearchParams): Record<string, string | string[]> {
  return Object.fromEntries(
    [...new Set(query.keys())].map((name) => {
      const values = query.getAll(name);
      return [name, values.length === 1 ? (values[0] ?? "") : values];
    }),
  );
}

function parseBody(bytes: Buffer): Record<string, unknown> | null {
  if (bytes.length === 0) return {};
  try {
    const value: unknown = JSON.parse(withoutMark(bytes.toString("utf8")));
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
