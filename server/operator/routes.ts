import type { ProcessInfo } from "../ipc.ts";
import type { OutboxFilter } from "../../db/queries/outbox.ts";
import { normalizeEmail } from "../core/account-names.ts";
import { maxOutboxMessages, type PresentedMessage } from "../delivery/outbox.ts";
import { timestamp } from "../core/clock.ts";
import {
  html,
  json,
  redirect,
  type OperatorReply,
  type OperatorRequest,
  type OperatorRoute,
} from "./exchange.ts";
import type { LoginFailures } from "./failures.ts";
import { cookieSeconds, type Identities } from "./identity.ts";
import { operatorOpenApi } from "./openapi.ts";
import { indexPage, loginPage, type Link, type QueueCounts } from "./pages.ts";
import { cookieName, refusal, tooManyFailures } from "./server.ts";
import { presentBooks, type BooksView } from "./wallets.ts";

/** What the pages show; each answers within a bounded time. */
export interface Sources {
  processes(): Promise<ProcessInfo[]>;
  lobbies(): Promise<unknown[]>;
  queues(): Promise<QueueCounts[]>;
  metrics(): Promise<string>;
  outbox(filter: OutboxFilter): Promise<PresentedMessage[]>;
  wallets(): Promise<BooksView>;
  /** Names of the stores that do not answer. */
  missingStores(): Promise<string[]>;
}

const links: Link[] = [
  { href: "/operator/queues/board", text: "Queue board", note: "jobs: look, retry, remove" },
  { href: "/operator/queues", text: "/operator/queues", note: "numbers of jobs by state" },
  { href: "/operator/outbox", text: "/operator/outbox", note: "mails and text messages" },
  { href: "/operator/wallets", text: "/operator/wallets", note: "wallets compared with ledgers" },
  { href: "/operator/workers", text: "/operator/workers", note: "processes and their restarts" },
  { href: "/operator/lobbies", text: "/operator/lobbies", note: "lobbies in memory by process" },
  { href: "/metrics", text: "/metrics", note: "Prometheus text, summed over all processes" },
  { href: "/ready", text: "/ready", note: "200 when every process and store answers" },
  { href: "/live", text: "/live", note: "200 while this process runs" },
  {
    href: "/operator/openapi.json",
    text: "/operator/openapi.json",
    note: "this interface as OpenAPI 3.1",
  },
];

/** Every address of the operator listener besides the queue board. */
export function operatorRoutes(
  sources: Sources,
  identities: Identities,
  failures: LoginFailures,
): readonly OperatorRoute[] {
  const page = { method: "GET", type: "text/html" } as const;
  const data = { method: "GET", type: "application/json" } as const;
  const routes: OperatorRoute[] = [
    {
      ...data,
      path: "/live",
      access: "open",
      summary: "The process runs",
      handler: () => json({ status: "ok" }),
    },
    {
      ...data,
      path: "/ready",
      access: "open",
      summary: "Every process and store answers",
      handler: () => readiness(sources),
    },
    {
      method: "GET",
      path: "/metrics",
      access: "local",
      type: "text/plain",
      summary: "Prometheus metrics",
      handler: async () => {
        const type = "text/plain; version=0.0.4; charset=utf-8";
        return { status: 200, content: { kind: "raw", type, bytes: await sources.metrics() } };
      },
    },
    {
      ...page,
      path: "/",
      access: "open",
      summary: "To the operator page",
      handler: () => redirect("/operator"),
    },
    {
      ...page,
      path: "/operator",
      access: "viewer",
      summary: "What there is",
      handler: async ({ operator }) => {
        const [processes, queues] = await Promise.all([sources.processes(), sources.queues()]);
        return operator
          ? html(indexPage(operator, links, processes, queues))
          : redirect("/operator/login");
      },
    },
    {
      ...page,
      path: "/operator/login",
      access: "open",
      summary: "Login form",
      handler: () => html(loginPage(null)),
    },
    {
      method: "POST",
      path: "/operator/login",
      access: "open",
      type: "text/html",
      summary: "Exchanges a token for a browser cookie of 12 hours",
      handler: (request) => login(request, identities, failures),
    },
    {
      method: "POST",
      path: "/operator/logout",
      access: "open",
      type: "text/html",
      summary: "Ends the browser cookie",
      handler: (request) => redirect("/operator/login", { "Set-Cookie": cookie("", 0, request) }),
    },
    {
      ...data,
      path: "/operator/workers",
      access: "viewer",
      summary: "Processes",
      handler: async () => json({ workers: (await sources.processes()).map(presentProcess) }),
    },
    {
      ...data,
      path: "/operator/lobbies",
      access: "viewer",
      summary: "Lobbies in memory by process",
      handler: async () => json({ owners: await sources.lobbies() }),
    },
    {
      ...data,
      path: "/operator/queues",
      access: "viewer",
      summary: "Jobs by queue and state",
      handler: async () => json({ queues: await sources.queues() }),
    },
    {
      ...data,
      path: "/operator/outbox",
      access: "viewer",
      summary: "Messages, newest first (kind, to, limit); what they say only outside production",
      handler: ({ query }) => outbox(sources, query),
    },
    {
      ...data,
      path: "/operator/wallets",
      access: "viewer",
      summary: "Rounds of comparing wallets with their ledgers, and differences, newest first",
      handler: async () => json(presentBooks(await sources.wallets())),
    },
  ];
  const document: OperatorRoute = {
    ...data,
    path: "/operator/openapi.json",
    access: "viewer",
    summary: "This document",
    handler: () => {
      const bytes = JSON.stringify(operatorOpenApi([...routes, document]));
      return { status: 200, content: { kind: "raw", type: "application/json", bytes } };
    },
  };
  return [...routes, document];
}

/** The document alone, for the command line: nothing is asked of the sources. */
export function operatorDocument(): object {
  const none = {
    processes: async () => [],
    lobbies: async () => [],
    queues: async () => [],
    metrics: async () => "",
    outbox: async () => [],
    wallets: async () => ({ rounds: [], differences: [], numDifferences: 0 }),
    missingStores: async () => [],
  };
  const nobody = { fromToken: async () => null, fromCookie: async () => null, cookieFor: () => "" };
  return operatorOpenApi(operatorRoutes(none, nobody, { waitOf: () => 0, record: () => {} }));
}

async function outbox(sources: Sources, query: URLSearchParams): Promise<OperatorReply> {
  const kind = query.get("kind");
  const to = query.get("to");
  const limit = Number(query.get("limit") ?? maxOutboxMessages);
  const isKind = kind === null || kind === "mail" || kind === "sms";
  if (!isKind || !Number.isInteger(limit) || to?.includes("\0"))
    return refusal("request:invalid_query");
  const messages = await sources.outbox({
    kind,
    to: to === null ? null : (normalizeEmail(to) ?? to.toWellFormed()),
    limit: Math.min(Math.max(limit, 1), maxOutboxMessages),
  });
  return json({ messages });
}

async function readiness(sources: Sources): Promise<OperatorReply> {
  const [processes, missing] = await Promise.all([sources.processes(), sources.missingStores()]);
  const waiting = processes.filter((each) => !each.isReady).length;
  const isReady = processes.length > 0 && waiting === 0 && missing.length === 0;
  const body = {
    status: isReady ? "ok" : "unavailable",
    num_processes: processes.length,
    num_waiting: waiting,
    missing_stores: missing,
  };
  return json(body, isReady ? 200 : 503);
}

async function login(
  request: OperatorRequest,
  identities: Identities,
  failures: LoginFailures,
): Promise<OperatorReply> {
  const wait = failures.waitOf(request.ip);
  if (wait > 0) return tooManyFailures(wait);
  const token = new URLSearchParams(request.body.toString("utf8")).get("token")?.trim() ?? "";
  const operator = await identities.fromToken(token);
  if (operator === null) {
    failures.record(request.ip);
    return html(loginPage("This token is not valid."), 401);
  }
  return redirect("/operator", {
    "Set-Cookie": cookie(identities.cookieFor(token), cookieSeconds, request),
  });
}

function cookie(value: string, maxAge: number, request: OperatorRequest): string {
  const secure = request.headers["x-forwarded-proto"] === "https" ? "; Secure" : "";
  return `${cookieName}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAge}${secure}`;
}

function presentProcess(info: ProcessInfo): object {
  return {
    role: info.role,
    index: info.index,
    pid: info.pid,
    is_ready: info.isReady,
    num_restarts: info.restarts,
    started_at: timestamp(info.startedAt),
    incarnation: info.incarnation,
  };
}
