import pg from "pg";
import { parseDatabaseUrl } from "../../server/platform/postgres/database-url.ts";

const connectTimeoutMs = 5_000;

/** Without limits of time, since a table takes as long as it is large; texts of COPY are the same on every server. */
const settings = `
  set statement_timeout = 0; set idle_in_transaction_session_timeout = 0; set lock_timeout = '60s';
  set client_encoding = 'UTF8'; set timezone = 'UTC'; set datestyle = 'ISO, YMD'; set intervalstyle = 'postgres';
  set extra_float_digits = 1; set bytea_output = 'hex'`;

/** A session of its own for a backup or a restore; closed at the end, which rolls back what is open. */
export async function withSession<T>(
  url: string,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({
    ...parseDatabaseUrl(url),
    application_name: "emberline backup",
    connectionTimeoutMillis: connectTimeoutMs,
  });
  // A lost connection fails the statement as well.
  client.on("error", () => {});
  await client.connect();
  try {
    await client.query(settings);
    return await work(client);
  } finally {
    await client.end();
  }
}
