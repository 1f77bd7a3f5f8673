import type { Config } from "../config/config.ts";

const everyAddress = new Set(["0.0.0.0", "::", "[::]"]);

/**
 * Address of the service in links of mails, without a trailing slash. Always the configured one: the host
 * name of a request must not reach a mail (S23).
 */
export function publicBaseUrl(config: Pick<Config, "PUBLIC_BASE_URL" | "HOST" | "PORT">): string {
  return config.PUBLIC_BASE_URL === "" ? listenUrl(config) : new URL(config.PUBLIC_BASE_URL).origin;
}

/** Address of the public listener for programs on this machine. */
export function listenUrl({ HOST, PORT }: Pick<Config, "HOST" | "PORT">): string {
  const host = everyAddress.has(HOST) ? "127.0.0.1" : HOST;
  return `http://${host.includes(":") && !host.startsWith("[") ? `[${host}]` : host}:${PORT}`;
}

/** Address of the operator listener in links, without a trailing slash; never the host of a request (S23). */
export function operatorUrl({
  OPERATOR_URL,
  OPERATOR_LISTEN,
}: Pick<Config, "OPERATOR_URL" | "OPERATOR_LISTEN">): string {
  if (OPERATOR_URL !== "") return new URL(OPERATOR_URL).origin;
  const at = OPERATOR_LISTEN.lastIndexOf(":");
  const host = OPERATOR_LISTEN.slice(0, at);
  return `http://${everyAddress.has(host) ? "127.0.0.1" : host}${OPERATOR_LISTEN.slice(at)}`;
}

/** Path of a page behind a mailed link, for one address. */
export function linkPath(path: string, { email, token }: { email: string; token: string }): string {
  return `${path}?${new URLSearchParams({ email, token }).toString()}`;
}

/**
 * Address of a status page; without a marketing site a path, which keeps the host of the request (SYS-02).
 */
export function statusPageUrl(
  config: Pick<Config, "MARKETING_URL">,
  page: "verify" | "unsubscribe",
  query: Record<string, string>,
): string {
  const base = config.MARKETING_URL.replace(/\/+$/, "");
  return `${base}/status/${page}?${new URLSearchParams(query).toString()}`;
}
