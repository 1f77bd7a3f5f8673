import type { MikroORM } from "@mikro-orm/postgresql";
import { AppError } from "../../platform/errors.ts";
import type { AuditSearch } from "../../features/operators/domain/audit-log.ts";
import { within } from "../health/stores.ts";
import type { AuditLogService } from "./routes.ts";

/** Loads the queries at the first call, like the database layer. */
export function createAuditLog(open: () => Promise<MikroORM>): AuditLogService {
  const domain = () => import("../../features/operators/domain/audit-log.ts");
  const filterOf = async (search: AuditSearch) => {
    const filter = (await domain()).filterOf(search);
    if (filter === null) throw new AppError("audit:time_invalid");
    return filter;
  };
  const em = async () => (await open()).em.fork();
  return {
    list: async (search, place) => {
      const filter = await filterOf(search);
      const read = async () => (await domain()).readEntries(await em(), filter, place);
      return within<Awaited<ReturnType<typeof read>> | null>(read(), null);
    },
    csv: async (search) => {
      const filter = await filterOf(search);
      return (await domain()).entriesCsv(await em(), filter);
    },
  };
}
