import {
  awaitSuccessor,
  drainWorker,
  startService,
  wakeOperator,
  type Service,
} from "../../test/support/process.ts";
import type { Host } from "./network.ts";
import type { NetworkStores } from "./stores.ts";

export const publicPort = 8080;

/** One instance on a host of its own, which can be stopped and started again, also from another checkout. */
export class RollingInstance {
  readonly host: Host;
  readonly #env: Record<string, string>;
  #service: Service | null = null;
  #signalledAt = -Infinity;

  constructor(host: Host, stores: NetworkStores, proxyAddress: string, env = {}) {
    this.host = host;
    this.#env = {
      ...{ DATABASE_URL: stores.databaseUrl, REDIS_URL: stores.redisUrl },
      ...{ HOST: host.address, PORT: String(publicPort) },
      OPERATOR_LISTEN: `${host.address}:9090`,
      // Both instances must read each other's tokens.
      APP_SECRET: "rolling-secret-of-both-instances-0123456789",
      OPERATOR_BOOTSTRAP_TOKEN: "rolling-operator-token-0123456789",
      TRUSTED_PROXIES: proxyAddress,
      ...{ HTTP_WORKERS: "2", JOB_WORKERS: "1" },
      ...{ RATE_LIMIT_FACTOR: "0", LOBBY_MIN_QUESTION_MS: "0", HUB_STREAMS_PER_ADDRESS: "100000" },
      // As in production; the probes of the balancer need 3 s.
      ...{ SHUTDOWN_DELAY_SECONDS: "5", SHUTDOWN_TIMEOUT_SECONDS: "25" },
      ...env,
    };
  }

  get service(): Service {
    if (this.#service === null) throw new Error("the instance is not running");
    return this.#service;
  }

  /** When it got its last SIGTERM, in milliseconds of `performance.now()`. */
  get signalledAt(): number {
    return this.#signalledAt;
  }

  /** `root`: another checkout. */
  async start(root?: string): Promise<void> {
    const { prefix } = this.host;
    const from = root === undefined ? {} : { root };
    this.#service = await startService({ env: this.#env, prefix, ...from });
  }

  /** SIGTERM, as a package manager or Kubernetes does; throws unless it ends in order. */
  async stop(): Promise<void> {
    this.#signalledAt = performance.now();
    const code = await this.service.stop();
    this.#service = null;
    if (code !== 0) throw new Error(`the instance ended with ${code}`);
  }

  /** Stops it if it runs; also after its host has lost its power. */
  async end(): Promise<void> {
    await this.#service?.stop();
    this.#service = null;
  }

  /** Replaces every HTTP worker, one after another. */
  async drainWorkers(): Promise<void> {
    await wakeOperator(this.service);
    const workers = (await this.service.processes()).filter(({ role }) => role === "http");
    for (const worker of workers) {
      const answer = await drainWorker(this.service, worker.index);
      if (answer.status !== 202) throw new Error(`drain: ${answer.status} ${await answer.text()}`);
      await awaitSuccessor(this.service, worker);
    }
  }
}
