import { startService, type Service } from "../test/support/process.ts";

/** The complete service on free ports, without rate limits, with default request logging. */
export async function withService<T>(
  workers: number,
  work: (service: Service) => Promise<T>,
  env: Record<string, string> = {},
): Promise<T> {
  const service = await startService({
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
