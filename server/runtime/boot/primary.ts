import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { publishNodeDown } from "../../../actors/index.ts";
import { listenUrl } from "../../platform/net/addresses.ts";
import { configToEnv, loadConfig, type Config } from "../../platform/config/config.ts";
import { shutdownDelaySeconds } from "../../platform/config/shutdown.ts";
import { createLogger, flushLog, type Logger } from "../../platform/log/logger.ts";
import { openLogOutput, type LogOutput } from "../../platform/log/log-output.ts";
import { storeNames } from "../../platform/probes.ts";
import { serviceEnv } from "../../platform/config/service-id.ts";
import { createPrimary, nameOfInstance } from "../../platform/instance.ts";
import { connectRedis } from "../../platform/redis/redis.ts";
import { systemClock } from "../../platform/time/clock.ts";
import { startupBanner, type BannerFacts } from "../startup-banner.ts";
import { serviceVersion } from "../../platform/version.ts";
import { cacheFolder } from "../stores/cache-folder.ts";
import { checkRedisPersistence } from "../stores/redis.ts";
import { Children } from "./children.ts";
import { keepCompiledCode } from "./compile-cache.ts";
import { takeDataDir } from "./data-dir.ts";
import type { Drains } from "./drains.ts";
import { createFleetParts } from "./fleet-parts.ts";
import { Instance } from "./instance.ts";
import { logOwnOutput } from "./own-output.ts";
import { OperatorListener } from "./operator-listener.ts";
import { operatorToken } from "./operator-token.ts";
import { ProcessEventLog } from "./process-event-log.ts";
import { checkReleaseOrder } from "./release-order.ts";
import { claimPorts, joinAddress, pickRange, splitAddress } from "./ports.ts";
import { onStopSignals, raceAbort } from "./signals.ts";
import { startupStep, StartError } from "./start-error.ts";
import { StopBudget } from "./stop-budget.ts";
import { startStores, type RunningStores } from "./stores.ts";
import { migrationWarning } from "./tcp-migration.ts";

/** The HTTP library takes its header limit from the environment; its default refuses long cookies. */
const headerLimit = { UWS_HTTP_MAX_HEADERS_SIZE: "16384" };
const healthLimitMs = 15_000;
const healthPauseMs = 25;

/** The cleanup stack, run in reverse order when the service stops. */
type Cleanup = () => Promise<void> | void;

interface Run {
  config: Config;
  log: Logger;
  /** Output for its own lines and those of all other processes. */
  lines: LogOutput;
  cleanups: Cleanup[];
  times: [string, number][];
  stopped: AbortSignal;
  budget: StopBudget;
}

/** What a signal reaches, once it exists. */
interface Reached {
  children: Children | null;
  instance: Instance | null;
  drains: Drains | null;
}

/** Runs the whole service until a signal; resolves to the exit code. */
export async function runPrimary(): Promise<number> {
  const config = loadConfig();
  const lines = openLogOutput();
  const log = createLogger(config, "primary", lines);
  const isProduction = config.APP_ENV === "production";
  if (isProduction) logOwnOutput(log);
  const [first, second] = [new AbortController(), new AbortController()];
  const delayMs = shutdownDelaySeconds(config) * 1_000;
  const budget = new StopBudget({ delayMs, timeoutMs: config.SHUTDOWN_TIMEOUT_SECONDS * 1_000 });
  const run: Run = { config, log, lines, budget, cleanups: [], times: [], stopped: first.signal };
  const reached: Reached = { children: null, instance: null, drains: null };
  const signals = onStopSignals({
    first: () => {
      budget.begin();
      reached.drains?.beginStop();
      reached.instance?.beginStop();
      first.abort();
    },
    again: () => {
      second.abort();
      reached.children?.killAll();
    },
  });
  try {
    const facts = await start(run, reached);
    if (!run.stopped.aborted) report(facts, log);
    await signals.first;
    // Balancers see that the instance is not ready, while it still serves everything (BOOT-10).
    await sleep(delayMs, null, { signal: second.signal }).catch(() => undefined);
    return 0;
  } catch (error) {
    if (run.stopped.aborted) return 0;
    const reason = error instanceof Error ? error.message : String(error);
    const isFixable = error instanceof StartError;
    if (isProduction || !isFixable)
      log.fatal(
        { event: "start_failed", ...(isFixable ? { reason } : { err: error }) },
        "start failed",
      );
    if (!isProduction) process.stderr.write(`${reason}\n`);
    return 1;
  } finally {
    for (const cleanup of run.cleanups.reverse())
      await Promise.resolve(cleanup()).catch((error: unknown) =>
        log.error(
          { event: "cleanup_failed", err: error },
          "a cleanup step failed, shutdown continues",
        ),
      );
    await flushLog(log, budget.leftMs("log"));
  }
}

async function start(run: Run, reached: Reached): Promise<BannerFacts> {
  const { config, log } = run;
  const dataDir = takeDataDir(config);
  run.cleanups.push(() => dataDir.release());
  config.DATA_DIR = dataDir.path;
  warn(dataDir.warning, run);
  warn(migrationWarning(config), run);
  const compiled = keepCompiledCode(cacheFolder(config.CACHE_DIR, resolve(config.DATA_DIR)));
  await claimAddresses(config);
  const stores = await timed(run, "stores", () => openStores(run));
  config.DATABASE_URL = stores.databaseUrl;
  config.REDIS_URL = stores.redisUrl;
  config.OPERATOR_BOOTSTRAP_TOKEN = operatorToken(config);
  if (!stores.isLocal.redis) await warnAboutRedis(config.REDIS_URL, run);
  await warnAboutBuild(run);
  const redis = connectRedis(config.REDIS_URL, log, "primary", { enableOfflineQueue: true });
  run.cleanups.push(() => redis.disconnect());
  await checkReleaseOrder(redis);
  const identity = createPrimary(serviceVersion);
  const events = new ProcessEventLog({
    instance: identity,
    clock: systemClock,
    log,
    store: (waiting) => children.storeEvents(waiting),
  });
  const children = new Children({
    counts: { http: config.HTTP_WORKERS, jobs: config.JOB_WORKERS },
    env: { ...configToEnv(config), ...headerLimit, ...compiled, ...serviceEnv },
    log,
    logsErrorOutput: config.APP_ENV === "production",
    lines: run.lines,
    onNodeDown: (node) => void publishNodeDown(redis, node, log),
    record: (event) => events.record(event),
    onAnyReady: () => events.flush(),
    onWorkerReady: () => {
      void instance.check();
      fleet.renew();
    },
    onTerminated: (index) => void drains.drainBySignal(index),
    answer: (question, about) => answers.toProcess(question, about),
    state: () => instance.state(),
  });
  const instance = new Instance({
    workers: () => children.workers(),
    storeLimitMs: config.READY_STORE_SECONDS * 1_000,
    publish: (state) => {
      children.publish(state);
      fleet.renew();
      const { live, ready } = state.probes;
      const away = storeNames.filter((store) => state.awaySince[store] !== null);
      const facts = { event: "readiness_changed", live: live.word, ready: ready.word, away };
      if (ready.word.startsWith("no-"))
        log.warn(facts, "instance not ready, requests belong elsewhere");
      else if (away.length > 0) log.warn(facts, "a store does not respond, see away");
      else log.info(facts, "state of the instance changed");
    },
  });
  const parts = createFleetParts({ config, log, redis, identity, children, instance });
  const { fleet, drains, answers } = parts;
  run.cleanups.push(() => fleet.leave());
  await fleet.join(run.stopped);
  const operators = new OperatorListener({
    address: config.OPERATOR_LISTEN,
    log,
    wake: () => children.wakeOperator(),
    probes: () => instance.answers(),
  });
  await startupStep("OPERATOR_LISTEN cannot be used", operators.listen());
  reached.children = children;
  reached.instance = instance;
  reached.drains = drains;
  instance.start();
  const { role, index, version, build } = identity;
  const place = { role, index, pid: process.pid };
  const about = { ...place, instance: nameOfInstance(identity), version, build };
  log.info({ event: "service_starting", ...place, build }, "service starts");
  events.record({ kind: "started", ...about, detail: {} });
  // Probes are answered until the processes have ended.
  run.cleanups.push(() => operators.close());
  run.cleanups.push(() => {
    log.info({ event: "service_stopping", ...place }, "service stops");
    // Not awaited: a process stores it before it ends, or it is lost.
    events.record({ kind: "stopping", ...about, detail: {} });
    return children.stop(run.budget);
  });
  run.cleanups.push(() => {
    instance.stop();
    operators.beginStop();
  });
  await timed(run, "processes", () => raceAbort(run.stopped, children.start()));
  const url = listenUrl(config);
  await timed(run, "health", () => raceAbort(run.stopped, untilHealthy(url, run.stopped)));
  await instance.check();
  const { host, port } = splitAddress(config.OPERATOR_LISTEN);
  return {
    version: serviceVersion,
    config,
    url,
    operatorUrl: listenUrl({ HOST: host, PORT: port }),
    operatorToken: config.APP_ENV === "production" ? "" : config.OPERATOR_BOOTSTRAP_TOKEN,
    databaseUrl: stores.databaseUrl,
    redisUrl: stores.redisUrl,
    isLocal: stores.isLocal,
    pid: process.pid,
    times: run.times,
  };
}

/** Registers the cleanup before it returns, because a signal may have arrived during the start. */
async function openStores({ config, log, cleanups, budget }: Run): Promise<RunningStores> {
  const stores = await startStores(config, log);
  cleanups.push(() => stores.stop(budget));
  return stores;
}

async function claimAddresses(config: Config): Promise<void> {
  const { HOST: host } = config;
  const operator = splitAddress(config.OPERATOR_LISTEN);
  const common = { setting: "PORT", hostSetting: "HOST", host, port: config.PORT };
  const ofOperator = { setting: "OPERATOR_LISTEN", hostSetting: "OPERATOR_LISTEN", ...operator };
  const [port = 0, operatorPort = 0] = await claimPorts(common, ofOperator);
  config.PORT = port;
  config.OPERATOR_LISTEN = joinAddress(operator.host, operatorPort);
  if (config.WORKER_PORTS !== "auto") return;
  const besides = [
    { ...common, port },
    { ...ofOperator, port: operatorPort },
  ];
  config.WORKER_PORTS = String(await pickRange(host, config.HTTP_WORKERS, besides));
}

async function warnAboutRedis(url: string, run: Run): Promise<void> {
  warn(await startupStep("REDIS_URL cannot be reached", checkRedisPersistence(url)), run);
}

/** Imported late: a library that fails to load is a startup failure, not a failure of this module. */
async function warnAboutBuild(run: Run): Promise<void> {
  const { buildWarning } = await import("../../http/probe/builds.ts");
  warn(buildWarning(), run);
}

function warn(warning: string | null, { config, log }: Run): void {
  if (warning === null) return;
  log.warn({ event: "start_warning" }, warning);
  if (config.APP_ENV !== "production") process.stderr.write(`warning: ${warning}\n`);
}

async function timed<T>(run: Run, part: string, work: () => Promise<T>): Promise<T> {
  run.stopped.throwIfAborted();
  const from = performance.now();
  const result = await work();
  run.times.push([part, performance.now() - from]);
  run.stopped.throwIfAborted();
  return result;
}

async function untilHealthy(url: string, stopped: AbortSignal): Promise<void> {
  const deadline = performance.now() + healthLimitMs;
  while (!stopped.aborted) {
    const response = await fetch(`${url}/v1/health-check`).catch(() => null);
    await response?.body?.cancel();
    if (response?.status === 200) return;
    if (performance.now() > deadline)
      throw new StartError(`GET ${url}/v1/health-check answers ${response?.status ?? "nothing"}`);
    await new Promise((done) => setTimeout(done, healthPauseMs));
  }
}

/**
 * Prints the startup banner, in production a log line (BOOT-42), and sends the same facts to a parent process with an
 * IPC channel.
 */
function report(facts: BannerFacts, log: Logger): void {
  const { url, operatorUrl, times } = facts;
  const startMs = Math.round(times.reduce((sum, [, ms]) => sum + ms, 0));
  if (facts.config.APP_ENV === "production")
    log.info({ event: "service_ready", url, operatorUrl, startMs }, "service is ready");
  else process.stdout.write(startupBanner(facts, process.stdout.isTTY === true));
  process.send?.({ type: "ready", facts });
}
