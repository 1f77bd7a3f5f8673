import type { ImportFilter, ImportRecord } from "../../features/archive/domain/import-records.ts";
import { pagedReply, routesWith } from "../../http/pipeline/route.ts";
import { timestamp } from "../../platform/time/clock.ts";
import { codexImport } from "../../../workers/queues.ts";
import { within } from "../health/stores.ts";
import type { JobService } from "../jobs/service.ts";
import type { QueueBody } from "../schemas.ts";
import { importJobs, importsPage, importsPath } from "./page.ts";
import { ImportsBody, ImportsQuery, type ImportBody } from "./schemas.ts";

export interface ImportsDeps {
  imports(filter: ImportFilter): Promise<{ imports: ImportRecord[]; total: number }>;
  jobs: JobService;
}

const defineRoute = routesWith<ImportsDeps>();

const presentImport = ({ isNewest, importedAtMs, ...one }: ImportRecord): ImportBody => ({
  id: one.id,
  game: one.game,
  branch: one.branch,
  patch: one.version,
  state: isNewest ? "newest" : "earlier",
  revision: one.revision,
  num_added: one.numAdded,
  num_changed: one.numChanged,
  num_removed: one.numRemoved,
  imported_at: timestamp(importedAtMs),
});

const jobsOf = ({ jobs }: Pick<ImportsDeps, "jobs">) =>
  within<QueueBody | null>(jobs.queue(codexImport.name), null);

/** Imports of the archive (OPS-81). */
export const importRoutes = [
  defineRoute({
    method: "GET",
    path: importsPath,
    tag: "Operator",
    summary: "Imported patches, the latest import first, and the queue of imports",
    auth: "viewer",
    source: "OPS-81, ENV-05",
    query: ImportsQuery,
    isPaged: true,
    responses: { 200: ImportsBody },
    page: importsPage,
    remainder: async ({ deps }) => importJobs(await jobsOf(deps)),
    errors: [],
    handler: async ({ deps, query: { game = null, page, limit } }) => {
      const offset = (page - 1) * limit;
      const [{ imports, total }, queue] = await Promise.all([
        deps.imports({ game, limit, offset }),
        jobsOf(deps),
      ]);
      const pagination = { page, limit, total, has_more: offset + imports.length < total };
      return pagedReply(200, { imports: imports.map(presentImport), queue }, pagination);
    },
  }),
];
