import type { Config } from "../config/config.ts";

const everyAddress = new Set(["0.0.0.0", "::", "[::]"]);

/**
 * Address of the service as links in mails name it, without a slash at the end. Always the
 * configured one: what a request calls us must not reach a mail (S23).
 */
export function publicBaseUrl(config: Pick<Config, "PUBLIC_BASE_URL" | "HOST" | "PORT">): string {
  return config.PUBLIC_BASE_URL === "" ? listenUrl(config) : new URL(config.PUBLIC_BASE_URL).origin;
}

/** Where a program on this machine finds the public listener. */
export function listenUrl({ HOST, PORT }: Pick<Config, "HOST" | "PORT">): string {
  const host = everyAddress.has(HOST) ? "127.0.0.1" : HOST;
  return `http://${host.includes(":") && !host.startsWith("[") ? `[${host}]` : host}:${PORT}`;
}

/** Where a status page is; without a marketing site a path, so that it is on the address that was asked (SYS-02). */
export function statusPageUrl(
  config: Pick<Config, "MARKETING_URL">,
  page: "verify" | "unsubscribe",
  query: Record<string, string>,
): string {
  const base = config.MARKETING_URL.replace(/\/+$/, "");
  return `${base}/status/${page}?${new URLSearchParams(query).toString()}`;
}
