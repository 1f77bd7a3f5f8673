import type { MikroORM } from "@mikro-orm/postgresql";
import { readMigrations, type MigrationState } from "../../../db/migrate.ts";
import type { Config } from "../../platform/config/config.ts";
import { finding, advice, type Finding } from "./finding.ts";

/** Settings of the server that matter here, by name. */
const settingNames = [
  "max_connections",
  "superuser_reserved_connections",
  "fsync",
  "full_page_writes",
  "synchronous_commit",
  "transaction_read_only",
] as const;
type ServerSettings = Record<(typeof settingNames)[number], string>;

export interface PostgresFacts {
  settings: ServerSettings;
  /** Connections of other programs than this service. */
  numForeign: number;
  migrations: Pick<MigrationState, "pending" | "unknown">;
}

/** Beside the pools: the operator process, a start that migrates, the console. */
const besidesPools = 4;

export async function readPostgres(orm: MikroORM): Promise<PostgresFacts> {
  const connection = orm.em.getConnection();
  const columns = settingNames.map((name) => `current_setting('${name}') as ${name}`);
  const [settings] = await connection.execute<ServerSettings[]>(`select ${columns.join(", ")}`);
  const [foreign] = await connection.execute<{ count: number }[]>(
    `select count(*)::int as count from pg_stat_activity
     where backend_type = 'client backend' and application_name not like 'emberline%'`,
  );
  if (settings === undefined) throw new Error("Postgres does not show its settings");
  return { settings, numForeign: foreign?.count ?? 0, migrations: await readMigrations(orm) };
}

export function postgresFindings(
  { settings, numForeign, migrations }: PostgresFacts,
  pools: readonly Pools[],
): Finding[] {
  const unsafe = (["fsync", "full_page_writes", "synchronous_commit"] as const).filter(
    (name) => settings[name] === "off",
  );
  return [
    connectionsFinding(settings, numForeign, pools),
    finding(
      "Postgres durability",
      unsafe.length > 0 && {
        found: `${unsafe.join(", ")} off: a crash loses what players were told is saved`,
        todo: "turn it on",
      },
      "commits are on disk",
    ),
    finding(
      "Postgres writes",
      settings.transaction_read_only === "on" && {
        found: "the server only reads, as a standby does",
        todo: "let DATABASE_URL lead to the primary",
      },
      "accepted",
    ),
    migrationsFinding(migrations),
  ];
}

/** Processes of one instance that have a pool, and its size. */
export type Pools = Pick<Config, "HTTP_WORKERS" | "JOB_WORKERS" | "DATABASE_POOL">;

function connectionsFinding(
  settings: ServerSettings,
  numForeign: number,
  instances: readonly Pools[],
): Finding {
  const free =
    Number(settings.max_connections) - Number(settings.superuser_reserved_connections) - numForeign;
  const needed = instances.reduce(
    (sum, { HTTP_WORKERS, JOB_WORKERS, DATABASE_POOL }) =>
      sum + (HTTP_WORKERS + JOB_WORKERS) * DATABASE_POOL + besidesPools,
    0,
  );
  const found = `the pools of ${instances.length === 1 ? "1 instance" : `${instances.length} instances`} may take ${needed} connections, ${free} are free for them`;
  const fault = needed > free && { found, todo: "raise max_connections, or lower DATABASE_POOL" };
  return finding("Postgres connections", fault, found);
}

function migrationsFinding({ pending, unknown }: PostgresFacts["migrations"]): Finding {
  const check = "migrations";
  if (pending.length > 0)
    return finding(
      check,
      {
        found: `${pending.length} pending, from ${pending[0]}`,
        todo: "console migrate --up, or start with MIGRATE_ON_START=true",
      },
      "",
    );
  const fault = unknown.length > 0 && {
    found: `${unknown.length} of a newer release, from ${unknown[0]}`,
    todo: "run the console of the newest release, and finish the upgrade",
  };
  return advice(check, fault, "all are applied");
}
