import { readFileSync } from "node:fs";
import type { Config } from "../../platform/config/config.ts";
import { listenUrl } from "../../platform/net/addresses.ts";
import { migrationWarning } from "../../runtime/boot/tcp-migration.ts";
import { advice, finding, type Finding } from "./finding.ts";

/** A stream takes one file, and a busy HTTP worker holds thousands. */
const leastOpenFiles = 16_384;
const probeLimitMs = 3_000;

/** What the machine of this instance contributes. */
export async function machineFindings(config: Config): Promise<Finding[]> {
  return [migrationFinding(config), openFilesFinding(readOpenFiles()), await readyFinding(config)];
}

function migrationFinding(config: Config): Finding {
  const warning = migrationWarning({ ...config, APP_ENV: "production" });
  const [found = "", todo] = warning?.split("; ") ?? [];
  const fault = warning !== null && { found, todo: todo ?? "use Linux 5.14 or later" };
  return advice("connections of a draining worker", fault, "none is reset");
}

/** The hard limit of this process, up to which Node raises its own; null where the system does not say. */
function readOpenFiles(): number | null {
  try {
    const limits = readFileSync("/proc/self/limits", "utf8");
    const hard = /^Max open files\s+\S+\s+(\S+)/m.exec(limits)?.[1];
    return hard === "unlimited" ? Infinity : Number(hard);
  } catch {
    return null;
  }
}

export function openFilesFinding(limit: number | null): Finding {
  return advice(
    "open files",
    limit !== null &&
      limit < leastOpenFiles && {
        found: `a process may open ${limit} files, and each stream needs one`,
        todo: "raise the limit (LimitNOFILE, ulimit -n) to 65536 or more",
      },
    limit === null ? "the system does not say" : `up to ${limit} a process`,
  );
}

/** The public probe of the instance on this machine, as a balancer asks it. */
async function readyFinding(config: Config): Promise<Finding> {
  const path = config.PUBLIC_READY_PATH;
  if (path === "off")
    return advice(
      "ready",
      { found: "PUBLIC_READY_PATH is off", todo: "let balancers ask the operator listener" },
      "",
    );
  const url = listenUrl(config) + path;
  const answer = await fetch(url, { signal: AbortSignal.timeout(probeLimitMs) }).catch(() => null);
  const word = (await answer?.text().catch(() => ""))?.slice(0, 40) ?? "no answer";
  const fault = answer?.status !== 200 && {
    found: `${url}: ${word}`,
    todo: "run this command beside a running instance, with its settings",
  };
  return finding("ready", fault, `${url}: ${word}`);
}
