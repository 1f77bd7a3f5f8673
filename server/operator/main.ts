import type { MikroORM } from "@mikro-orm/postgresql";
import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue } from "prom-client";
import type { OutboxFilter } from "../../db/queries/outbox.ts";
import { createQueues, type Queues } from "../../workers/producer.ts";
import { splitAddress } from "../boot/ports.ts";
import { systemClock } from "../core/clock.ts";
import { loadConfig, type Config } from "../core/config.ts";
import { createLogger } from "../core/logger.ts";
import { presentMessage, type PresentedMessage } from "../delivery/outbox.ts";
import { createMetrics, type Metrics } from "../core/metrics.ts";
import { connectRedis } from "../core/redis.ts";
import { joinPrimary, type PrimaryLink, type ProcessInfo } from "../ipc.ts";
import { createBoard } from "./board.ts";
import { createLoginFailures } from "./failures.ts";
import { createIdentities, type Operator } from "./identity.ts";
import { operatorRoutes, type Sources } from "./routes.ts";
import { createOperatorServer, listen } from "./server.ts";
import { shownBooks, type BooksView } from "./wallets.ts";

type MetricsOfProcess = MetricObjectWithValues<MetricValue<string>>[];

const storeLimitMs = 1_500;

/** Process entry of role `operator`: health, metrics and the pages for operators. */
export async function startOperator(): Promise<void> {
  const config = loadConfig();
  const log = createLogger(config, "operator");
  const metrics = createMetrics();
  const redis = connectRedis(config.REDIS_URL, log, "operator");
  const queues = createQueues(config.REDIS_URL, log);
  const database = createDatabase(config);
  const link = joinPrimary({
    log,
    answers: {},
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await queues.close();
      redis.disconnect();
      await database.close();
    },
  });
  const failures = createLoginFailures(systemClock);
  const identities = createIdentities(config, systemClock, database.findOperator);
  const missingStores = async () => {
    const isRedisUp = await within(redis.ping().then(() => true));
    // The ping has a limit of its own; loading the database layer, at the first question, has none.
    const isDatabaseUp = await database.ping().catch(() => false);
    return [...(isDatabaseUp ? [] : ["postgres"]), ...(isRedisUp ? [] : ["redis"])];
  };
  const sources = createSources(link, queues, metrics, missingStores, database);
  const server = createOperatorServer({
    config,
    clock: systemClock,
    log,
    routes: operatorRoutes(sources, identities, failures),
    board: createBoard(queues.all()),
    identities,
    failures,
    audit: async (operator, action) => {
      log.warn({ audit: true, operator: operator.name, action }, "operator action");
      await database.audit(operator, action);
    },
  });
  const { host, port } = splitAddress(config.OPERATOR_LISTEN);
  link.ready(await listen(server, host, port));
}

function createSources(
  link: PrimaryLink,
  queues: Queues,
  metrics: Metrics,
  missingStores: () => Promise<string[]>,
  database: Pick<Sources, "outbox" | "wallets">,
): Sources {
  const listOf = async (question: "processes" | "lobbies" | "metrics"): Promise<unknown[]> => {
    const value = await link.ask(question);
    return Array.isArray(value) ? value : [];
  };
  return {
    processes: async () => (await listOf("processes")) as ProcessInfo[],
    lobbies: () => listOf("lobbies"),
    missingStores,
    outbox: database.outbox,
    wallets: database.wallets,
    metrics: async () => {
      const others = (await listOf("metrics")) as MetricsOfProcess[];
      const own = await metrics.registry.getMetricsAsJSON();
      return AggregatorRegistry.aggregate([...others, own]).metrics();
    },
    queues: () =>
      Promise.all(
        queues.all().map(async (queue) => {
          const [counts, isPaused] = await Promise.all([queue.getJobCounts(), queue.isPaused()]);
          return { name: queue.name, is_paused: isPaused, counts };
        }),
      ),
  };
}

/** Connected on first use: the pages and metrics work while Postgres is away. */
function createDatabase(config: Config) {
  let opened: Promise<MikroORM> | null = null;
  const open = (): Promise<MikroORM> => {
    opened ??= import("../../db/orm.ts")
      .then((module) => module.createOrm({ ...config, DATABASE_POOL: 2 }))
      .catch((error: unknown) => {
        opened = null;
        throw error;
      });
    return opened;
  };
  return {
    ping: async (): Promise<boolean> => {
      const { pingDatabase } = await import("../../db/orm.ts");
      return pingDatabase(await open(), storeLimitMs);
    },
    findOperator: async (hash: string): Promise<Operator | null> => {
      const { findActiveOperator } = await import("../../db/queries/operators.ts");
      return findActiveOperator((await open()).em.fork(), hash);
    },
    outbox: async (filter: OutboxFilter): Promise<PresentedMessage[]> => {
      const { listOutbox } = await import("../../db/queries/outbox.ts");
      const messages = await listOutbox((await open()).em.fork(), filter);
      const hasContent = config.APP_ENV !== "production";
      return messages.map((message) => presentMessage(message, hasContent));
    },
    wallets: async (): Promise<BooksView> => {
      const { readBooks } = await import("../../db/queries/wallet-books.ts");
      return readBooks((await open()).em.fork(), shownBooks);
    },
    audit: async (operator: Operator, action: string): Promise<void> => {
      const { insertAuditEntry } = await import("../../db/queries/operators.ts");
      const [verb = "", target = ""] = action.split(" ", 2);
      const entry = {
        operator: operator.name,
        action: verb,
        target: target.slice(0, 255),
        reason: "",
      };
      await insertAuditEntry((await open()).em.fork(), entry);
    },
    close: async (): Promise<void> => {
      const orm = await opened?.catch(() => null);
      await orm?.close(true);
    },
  };
}

async function within(work: Promise<boolean>): Promise<boolean> {
  const limit = new Promise<boolean>((resolve) => setTimeout(resolve, storeLimitMs, false).unref());
  return Promise.race([work.catch(() => false), limit]);
}
