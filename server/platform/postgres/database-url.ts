import type { ConnectionOptions } from "node:tls";
import { readTextSync } from "../text/text-file.ts";

export interface DatabaseAddress {
  /** A host name, or the folder of a Unix socket. */
  host: string;
  port: number;
  user: string;
  password: string;
  database: string;
  /** TLS options for the server's certificate; false connects without TLS. */
  ssl: ConnectionOptions | false;
}

/**
 * Parses a `postgres://` address. A Unix socket is written as
 * `postgres:///<database>?host=<folder>&user=<name>`; `sslmode` and `sslrootcert` have their libpq meaning.
 * Throws for anything else, and if the certificate file cannot be read.
 */
export function parseDatabaseUrl(url: string): DatabaseAddress {
  const parsed = new URL(url);
  if (!/^postgres(ql)?:$/.test(parsed.protocol)) throw new TypeError("not a postgres:// address");
  const query = parsed.searchParams;
  // The brackets of an IPv6 address belong to the notation, not to the name.
  const hostname = decodeURIComponent(parsed.hostname).replace(/^\[(.*)\]$/, "$1");
  const host = query.get("host") ?? (hostname || "localhost");
  return {
    host,
    port: Number(query.get("port") ?? (parsed.port || 5432)),
    user: query.get("user") ?? decodeURIComponent(parsed.username),
    password: query.get("password") ?? decodeURIComponent(parsed.password),
    database: decodeURIComponent(parsed.pathname.slice(1)),
    ssl: sslOf(query, host),
  };
}

const sslParameters: ReadonlySet<string> = new Set(["sslmode", "sslrootcert"]);
const anyName = () => undefined;

/** An unsupported TLS parameter throws instead of connecting with less security than requested. */
function sslOf(query: URLSearchParams, host: string): ConnectionOptions | false {
  const unknown = [...query.keys()].find((key) => key.startsWith("ssl") && !sslParameters.has(key));
  if (unknown !== undefined) throw new TypeError(`${unknown} is not supported`);
  const file = query.get("sslrootcert");
  const mode = query.get("sslmode") ?? (file === null ? "disable" : "verify-full");
  const trusted = file === null || file === "system" ? {} : { ca: readTextSync(file) };
  if (mode === "disable") return false;
  if (mode === "require" && file === null) return { rejectUnauthorized: false };
  if (mode === "require" || mode === "verify-ca")
    return { ...trusted, checkServerIdentity: anyName };
  if (mode === "verify-full") return { ...trusted, host };
  throw new TypeError(`sslmode is none of disable, require, verify-ca and verify-full`);
}

/** The same server, another database. */
export function withDatabase(url: string, database: string): string {
  const parsed = new URL(url);
  parsed.pathname = `/${encodeURIComponent(database)}`;
  return parsed.href;
}
