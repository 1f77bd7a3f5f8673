import { readFileSync } from "node:fs";

/** Linux 5.14 and later. */
const setting = "/proc/sys/net/ipv4/tcp_migrate_req";

const readSetting = (): string | null => {
  try {
    return readFileSync(setting, "utf8").trim();
  } catch {
    return null;
  }
};

/**
 * HTTP workers listen on one port, each with a queue of its own. Unless the system migrates them, the connections
 * that wait in the queue of a worker that drains are reset (BOOT-12). Null where there is nothing to do.
 */
export function migrationWarning(
  { APP_ENV, HTTP_WORKERS }: { APP_ENV: string; HTTP_WORKERS: number },
  { read = readSetting, platform = process.platform as string } = {},
): string | null {
  if (APP_ENV !== "production" || HTTP_WORKERS < 2 || platform !== "linux") return null;
  const value = read();
  if (value === "1") return null;
  const loss = "connections that a draining HTTP worker has not accepted are reset";
  if (value === null) return `this system has no net.ipv4.tcp_migrate_req (Linux 5.14): ${loss}`;
  return `net.ipv4.tcp_migrate_req is ${value}: ${loss}; set it to 1 (sysctl -w net.ipv4.tcp_migrate_req=1)`;
}
