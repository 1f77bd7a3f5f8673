import type { Config } from "./settings.ts";

/** In production a balancer needs the time to see that the instance is not ready any more. */
const productionDelaySeconds = 5;

/** Seconds from a stop signal to the stop (BOOT-10). */
export function shutdownDelaySeconds(
  config: Pick<Config, "APP_ENV" | "SHUTDOWN_DELAY_SECONDS">,
): number {
  if (config.SHUTDOWN_DELAY_SECONDS !== "") return Number(config.SHUTDOWN_DELAY_SECONDS);
  return config.APP_ENV === "production" ? productionDelaySeconds : 0;
}
