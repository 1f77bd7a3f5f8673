export interface DatabaseAddress {
  /** A host name, or the folder of a unix socket. */
  host: string;
  port: number;
  user: string;
  password: string;
  database: string;
}

/**
 * Parts of a `postgres://` address. A unix socket is written as
 * `postgres:///<database>?host=<folder>&user=<name>`. Throws TypeError for anything else.
 */
export function parseDatabaseUrl(url: string): DatabaseAddress {
  const parsed = new URL(url);
  if (!/^postgres(ql)?:$/.test(parsed.protocol)) throw new TypeError("not a postgres:// address");
  const query = parsed.searchParams;
  return {
    host: query.get("host") ?? (decodeURIComponent(parsed.hostname) || "localhost"),
    port: Number(query.get("port") ?? (parsed.port || 5432)),
    user: query.get("user") ?? decodeURIComponent(parsed.username),
    password: query.get("password") ?? decodeURIComponent(parsed.password),
    database: decodeURIComponent(parsed.pathname.slice(1)),
  };
}

/** The same server, another database. */
export function withDatabase(url: string, database: string): string {
  const parsed = new URL(url);
  parsed.pathname = `/${encodeURIComponent(database)}`;
  return parsed.href;
}
