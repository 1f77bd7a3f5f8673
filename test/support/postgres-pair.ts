import { appendFileSync, chmodSync, cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLogger } from "../../server/platform/log/logger.ts";
import { startLocalPostgres, withClient } from "../../server/runtime/stores/postgres.ts";
import { starts } from "./cleanup.ts";
import { eventually } from "./eventually.ts";
import { startProxy } from "./proxy.ts";

/** A primary with a synchronous standby, behind one address that follows a failover. */
export interface PostgresPair {
  /** Address of the database at the relay. */
  url: string;
  /** Kills the primary with SIGKILL and breaks all connections; the address leads nowhere. */
  killPrimary(): void;
  /** Promotes the standby and leads the address to it. */
  promote(): Promise<void>;
  stop(): Promise<void>;
}

export const startPostgresPair = (): Promise<PostgresPair> => starts(makePair);

async function makePair(): Promise<PostgresPair> {
  const dir = mkdtempSync(join(tmpdir(), "ember-pair-"));
  chmodSync(dir, 0o755);
  const stops = [async () => rmSync(dir, { recursive: true, force: true })];
  const stop = async () => {
    for (const one of stops.toReversed()) await one();
  };
  try {
    return { ...(await startPair(dir, stops)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startPair(
  dir: string,
  stops: (() => Promise<void>)[],
): Promise<Omit<PostgresPair, "stop">> {
  const [first, second] = [join(dir, "a"), join(dir, "b")];
  const start = async (dataDir: string) => {
    const options = { dataDir, socketDir: `${dataDir}.s`, log: silentLogger };
    const server = await startLocalPostgres(options);
    stops.push(() => server.stop());
    return server;
  };
  // The packages have no pg_basebackup: a stopped primary is copied.
  await (await start(first)).stop();
  cpSync(first, second, { recursive: true, preserveTimestamps: true });
  chmodSync(second, 0o700);
  writeFileSync(join(second, "standby.signal"), "");
  const conninfo = `primary_conninfo = 'host=${first}.s user=emberline'\n`;
  appendFileSync(join(second, "postgresql.auto.conf"), conninfo);
  const primary = await start(first);
  const standby = await start(second);
  const ask = (url: string, text: string) => withClient(url, (client) => client.query(text));
  await ask(primary.url, "alter system set synchronous_standby_names = '*'");
  await ask(primary.url, "select pg_reload_conf()");
  const isSynchronous = "select from pg_stat_replication where sync_state = 'sync'";
  await eventually(
    "the standby is synchronous",
    async () => (await ask(primary.url, isSynchronous)).rowCount === 1,
  );
  const store = { path: `${first}.s/.s.PGSQL.5432` };
  const relay = await startProxy(store);
  stops.push(() => relay.stop());
  return {
    url: `postgres://emberline@127.0.0.1:${relay.port}/emberline`,
    killPrimary: () => {
      const pid = primary.pid();
      if (pid === null) throw new Error("the primary does not run");
      store.path = join(dir, "nowhere");
      process.kill(pid, "SIGKILL");
      relay.cut();
    },
    promote: async () => {
      await ask(standby.url, "select pg_promote()");
      store.path = `${second}.s/.s.PGSQL.5432`;
    },
  };
}
