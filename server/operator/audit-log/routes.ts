import type { AuditSearch, ShownEntry } from "../../features/operators/domain/audit-log.ts";
import { bytesReply, media, pagedReply, routesWith } from "../../http/pipeline/route.ts";
import { auditCsvPath, auditPage, auditPath } from "./page.ts";
import { AuditCsvQuery, AuditQuery, EntriesBody } from "./schemas.ts";

/** Reads the audit log; null while Postgres is away. A time that is none throws `audit:time_invalid`. */
export interface AuditLogService {
  list(
    search: AuditSearch,
    place: { limit: number; offset: number },
  ): Promise<{ entries: ShownEntry[]; total: number } | null>;
  csv(search: AuditSearch): Promise<string>;
}

export interface AuditLogDeps {
  auditLog: AuditLogService;
}

const defineRoute = routesWith<AuditLogDeps>();
const tag = "Operator";

/** Who changed what and why, and how it ended (S16, OPS-54, OPS-55). */
export const auditLogRoutes = [
  defineRoute({
    method: "GET",
    path: auditPath,
    tag,
    summary: "Changes of operators and of the console, newest first",
    auth: "viewer",
    source: "S16, OPS-55, ENV-05",
    query: AuditQuery,
    isPaged: true,
    responses: { 200: EntriesBody },
    page: auditPage,
    errors: ["audit:time_invalid"],
    handler: async ({ deps: { auditLog }, query: { page, limit, ...search } }) => {
      const offset = (page - 1) * limit;
      const found = await auditLog.list(search, { limit, offset });
      const { entries, total } = found ?? { entries: [], total: 0 };
      const pagination = { page, limit, total, has_more: offset + entries.length < total };
      return pagedReply(200, { entries, has_entries: found !== null }, pagination);
    },
  }),
  defineRoute({
    method: "GET",
    path: auditCsvPath,
    tag,
    summary: "The newest 10,000 of them as CSV",
    auth: "viewer",
    source: "S16, OPS-55",
    query: AuditCsvQuery,
    responses: { 200: media("text/csv") },
    errors: ["audit:time_invalid"],
    handler: async ({ deps: { auditLog }, query }) =>
      bytesReply(200, "text/csv; charset=utf-8", await auditLog.csv(query), [
        ["Content-Disposition", `attachment; filename="audit.csv"`],
      ]),
  }),
];
