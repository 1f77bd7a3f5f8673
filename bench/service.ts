import { startService, type Service } from "../test/support/process.ts";
import { treeByKind } from "./processes.ts";

/**
 * The complete service on free ports, without rate limits, with default request logging. `root`: another
 * checkout.
 */
export async function withService<T>(
  workers: number,
  work: (service: Service) => Promise<T>,
  env: Record<string, string> = {},
  root?: string,
): Promise<T> {
  const service = await startService({
    ...(root === undefined ? {} : { root }),
    env: {
      HTTP_WORKERS: String(workers),
      JOB_WORKERS: "1",
      RATE_LIMIT_FACTOR: "0",
      LOG_LEVEL: "info",
      LOBBY_MIN_QUESTION_MS: "0",
      HUB_STREAMS_PER_ADDRESS: "1000000",
      // There are no heartbeats here, and no seat may count as disconnected.
      LOBBY_STALE_SECONDS: "3600",
      ...env,
    },
  });
  try {
    return await work(service);
  } finally {
    await service.stop();
  }
}

/** Pids of the HTTP workers and of Redis. */
export function pidsOf({ pid }: Service): { pids: number[]; redisPids: number[] } {
  const { "HTTP worker": pids = [], Redis: redisPids = [] } = treeByKind(pid);
  return { pids, redisPids };
}
