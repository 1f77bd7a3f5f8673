import type { Config } from "./settings.ts";
import { rules } from "./config-rules.ts";
import { operatorOidcProblems } from "./operator-oidc.ts";
import { parseDatabaseUrl } from "../postgres/database-url.ts";
import { parseClusterAddress } from "../redis/redis-address.ts";
import { shutdownDelaySeconds } from "./shutdown.ts";
import { weaknessOf } from "./secret-strength.ts";
import { normalizeOrigin, parseOrigins } from "../security/origins.ts";
import { parseTrustedProxies } from "./trusted-proxies.ts";

export const developmentSecret = "development-only-secret-never-use-in-production";

const addresses = [
  ["SMTP_URL", rules.mailServer],
  ["SMS_WEBHOOK_URL", rules.webAddress],
  ["MARKETING_URL", rules.sitePrefix],
  ["GENERATOR_URL", rules.webAddress],
  ["AVATAR_MODERATION_URL", rules.webAddress],
  ["AVATAR_STORE", rules.bucket],
  ["OPERATOR_WEBHOOK_URL", rules.webAddress],
  ["OTEL_EXPORTER_OTLP_ENDPOINT", rules.collector],
] as const;

/** Problems of settings that are valid one by one (S29). */
export function crossChecks(config: Config): string[] {
  const problems = [
    ...secretProblems(config),
    ...addressProblems(config),
    ...workerPortProblems(config),
    ...databaseProblems(config),
    ...redisProblems(config),
    ...deliveryProblems(config),
    ...operatorUrlProblems(config),
    ...operatorOidcProblems(config),
    ...shutdownProblems(config),
    ...probeProblems(config),
  ];
  if (config.AVATAR_MODERATION === "webhook" && config.AVATAR_MODERATION_URL === "")
    problems.push("AVATAR_MODERATION_URL: required by AVATAR_MODERATION=webhook");
  if (config.OPERATOR_WEBHOOK_SECRET !== "" && config.OPERATOR_WEBHOOK_URL === "")
    problems.push("OPERATOR_WEBHOOK_SECRET: needs OPERATOR_WEBHOOK_URL");
  for (const [name, { allowed }] of addresses)
    if (config[name] !== "" && !isAddress(config[name]))
      problems.push(`${name}: must be ${allowed}`);
  if (config.APP_ENV !== "production") return problems;
  for (const name of ["DATABASE_URL", "REDIS_URL"] as const)
    if (config[name] === "") problems.push(`${name}: required in production`);
  if (config.RATE_LIMIT_FACTOR === 0)
    problems.push("RATE_LIMIT_FACTOR: 0 is refused in production");
  return problems;
}

function secretProblems(config: Config): string[] {
  const problems: string[] = [];
  const token = config.OPERATOR_BOOTSTRAP_TOKEN;
  if (token !== "" && token.length < 32)
    problems.push("OPERATOR_BOOTSTRAP_TOKEN: at least 32 characters");
  for (const name of ["APP_SECRET", "APP_SECRET_PREVIOUS"] as const)
    if (config[name] !== "" && Buffer.byteLength(config[name]) < 32)
      problems.push(`${name}: at least 32 bytes`);
  if (config.APP_ENV !== "production") return problems;
  if (config.APP_SECRET === "") problems.push("APP_SECRET: required in production");
  for (const name of ["APP_SECRET", "APP_SECRET_PREVIOUS"] as const)
    if (config[name] === developmentSecret)
      problems.push(`${name}: the development secret is refused in production`);
  const secrets = ["APP_SECRET", "APP_SECRET_PREVIOUS", "OPERATOR_BOOTSTRAP_TOKEN"] as const;
  const isNamed = (name: string) => problems.some((problem) => problem.startsWith(`${name}:`));
  for (const [i, name] of secrets.entries()) {
    const weakness = config[name] === "" || isNamed(name) ? null : weaknessOf(config[name]);
    if (weakness !== null) problems.push(`${name}: ${weakness}`);
    const twin = secrets.slice(0, i).find((other) => config[other] === config[name]);
    if (twin && config[name] !== "") problems.push(`${name}: must differ from ${twin}`);
  }
  return problems;
}

function databaseProblems({ DATABASE_URL: url }: Config): string[] {
  try {
    if (url === "") return [];
    if (namesSeveralHosts(url)) return [`DATABASE_URL: ${oneAddress}`];
    if (!/^postgres(ql)?:\/\//.test(url) || !isAddress(url))
      return ["DATABASE_URL: postgres://user:password@host:port/database is expected"];
    parseDatabaseUrl(url);
    return [];
  } catch (error) {
    return [`DATABASE_URL: ${error instanceof Error ? error.message : String(error)}`];
  }
}

function redisProblems({ REDIS_URL: url }: Config): string[] {
  try {
    const isKnown = parseClusterAddress(url) !== null || url.startsWith("unix:///");
    if (!isKnown && namesSeveralHosts(url))
      return [`REDIS_URL: ${oneAddress}; a Redis Cluster is redis+cluster://host:port,host:port`];
    if (url === "" || isKnown) return [];
    if (!/^rediss?:\/\//.test(url) || !isAddress(url))
      return ["REDIS_URL: redis://, rediss://, unix:/// or redis+cluster:// is expected"];
    if (!/^\/?\d*$/.test(new URL(url).pathname))
      return ["REDIS_URL: the path must be the number of a database, as redis://host:port/0"];
    return [];
  } catch (error) {
    return [`REDIS_URL: ${error instanceof Error ? error.message : String(error)}`];
  }
}

const oneAddress =
  "one host is expected; for failover give an address that leads to the present primary (server/runtime/README.md)";

/** An address in the form of clients that choose among hosts; ours would take the list for a name. */
function namesSeveralHosts(url: string): boolean {
  const [, authority = ""] = /^[^:/?#]+:\/\/([^/?#]*)/.exec(url) ?? [];
  const hosts = authority.slice(authority.lastIndexOf("@") + 1);
  return hosts.includes(",") || /[?&](host|port)=[^&]*(,|%2c|&(.*&)?\1=)/i.test(url);
}

/** A URL with a readable user and password, in one line: the parser of URLs leaves out the ends of lines. */
function isAddress(text: string): boolean {
  if (/[\t\n\r]/.test(text)) return false;
  try {
    const { username, password } = new URL(text);
    decodeURIComponent(`${username}:${password}`);
    return true;
  } catch {
    return false;
  }
}

function addressProblems(config: Config): string[] {
  const problems: string[] = [];
  for (const check of [
    () => parseOrigins(config.CORS_ORIGINS),
    () => parseTrustedProxies(config.TRUSTED_PROXIES),
  ])
    try {
      check();
    } catch (error) {
      problems.push(error instanceof Error ? error.message : String(error));
    }
  const listen = config.OPERATOR_LISTEN;
  if (!/^(\[[^\]]+\]|[^:]+):\d{1,5}$/.test(listen) || !URL.canParse(`http://${listen}`))
    problems.push("OPERATOR_LISTEN: host:port is expected, an IPv6 address as [::1]:9090");
  const base = config.PUBLIC_BASE_URL;
  const isProduction = config.APP_ENV === "production";
  if (base === "") return isProduction ? [...problems, baseMissing] : problems;
  const origin = normalizeOrigin(base);
  const isWeb = origin !== null && /^https?:/.test(origin);
  if (!isWeb) problems.push("PUBLIC_BASE_URL: must be http(s)://host, without a path");
  else if (isProduction && !isHttpsOrLoopback(new URL(origin)))
    problems.push("PUBLIC_BASE_URL: must be https in production");
  return problems;
}

/** All ports of the range must exist, and the service itself must use none of them. */
function workerPortProblems({ WORKER_PORTS, HTTP_WORKERS, PORT, OPERATOR_LISTEN }: Config) {
  if (WORKER_PORTS === "off" || WORKER_PORTS === "auto") return [];
  const first = Number(WORKER_PORTS);
  const last = first + HTTP_WORKERS - 1;
  if (last > highestPort)
    return [`WORKER_PORTS: ports ${first} to ${last} are needed, ${highestPort} is the highest`];
  const operatorPort = Number(OPERATOR_LISTEN.slice(OPERATOR_LISTEN.lastIndexOf(":") + 1));
  const taken = Object.entries({ PORT, OPERATOR_LISTEN: operatorPort });
  return taken
    .filter(([, port]) => port >= first && port <= last)
    .map(([name, port]) => `WORKER_PORTS: ports ${first} to ${last} include ${port} of ${name}`);
}

const highestPort = 65_535;

const baseMissing = "PUBLIC_BASE_URL: required in production";

/** Sessions and redirects of a provider pass through this address. */
function operatorUrlProblems({ OPERATOR_URL: url, APP_ENV }: Config): string[] {
  if (url === "") return [];
  if (!URL.canParse(url)) return ["OPERATOR_URL: must be an address as https://ops.example"];
  const isPlain = APP_ENV === "production" && !isHttpsOrLoopback(new URL(url));
  return isPlain ? ["OPERATOR_URL: must be https in production"] : [];
}

/** Loopback traffic cannot be intercepted. */
function isHttpsOrLoopback({ protocol, hostname }: URL): boolean {
  const isLoopback = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
  return protocol === "https:" || isLoopback;
}

function shutdownProblems(config: Config): string[] {
  const delay = shutdownDelaySeconds(config);
  const timeout = config.SHUTDOWN_TIMEOUT_SECONDS;
  if (delay < timeout) return [];
  return [
    `SHUTDOWN_DELAY_SECONDS: must be less than SHUTDOWN_TIMEOUT_SECONDS (${timeout}), not ${delay}`,
  ];
}

/** Stores are checked every two seconds, so a shorter limit would report one that is only between two checks. */
const leastStoreSeconds = 5;

function probeProblems(config: Config): string[] {
  const problems: string[] = [];
  const { PUBLIC_LIVE_PATH: live, PUBLIC_READY_PATH: ready, READY_STORE_SECONDS: seconds } = config;
  if (live === ready && live !== "off")
    problems.push("PUBLIC_READY_PATH: must differ from PUBLIC_LIVE_PATH");
  if (seconds > 0 && seconds < leastStoreSeconds)
    problems.push(
      `READY_STORE_SECONDS: must be 0 or at least ${leastStoreSeconds}, not ${seconds}`,
    );
  return problems;
}

function deliveryProblems(config: Config): string[] {
  const problems: string[] = [];
  if (config.MAIL_DRIVER === "smtp" && config.SMTP_URL === "")
    problems.push("SMTP_URL: required by MAIL_DRIVER=smtp");
  if (config.SMS_DRIVER === "webhook" && config.SMS_WEBHOOK_URL === "")
    problems.push("SMS_WEBHOOK_URL: required by SMS_DRIVER=webhook");
  if (config.APP_ENV !== "production") return problems;
  for (const name of ["MAIL_DRIVER", "SMS_DRIVER"] as const)
    if (config[name] === "memory") problems.push(`${name}: memory is refused in production`);
  return problems;
}
