import type { WithLog, WithOrm } from "../../platform/capabilities.ts";
import { originsRefreshMs } from "./domain/realms.ts";
import { readRealmOrigins } from "./service.ts";

export interface RealmOrigins {
  current: () => ReadonlySet<string>;
  stop(): void;
}

/** Caches the origins of the realms' own pages, which may use credentials across origins (HTTP-10). */
export async function followRealmOrigins(deps: WithOrm & WithLog): Promise<RealmOrigins> {
  let origins: ReadonlySet<string> = new Set();
  const refresh = async () => {
    try {
      origins = await readRealmOrigins({ em: deps.orm.em.fork() });
    } catch (error) {
      deps.log.warn(
        { event: "realm_origins_read_failed", reason: String(error) },
        "origins of realms not refreshed, retrying",
      );
    }
  };
  await refresh();
  const timer = setInterval(() => void refresh(), originsRefreshMs);
  timer.unref();
  return { current: () => origins, stop: () => clearInterval(timer) };
}
