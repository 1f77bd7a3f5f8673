import type { MikroORM } from "@mikro-orm/postgresql";
import type { Redis } from "ioredis";
import { recordChange } from "../../server/features/operators/domain/operators.ts";
import type { RecordUndone } from "../../server/features/operators/domain/undone-changes.ts";
import { parseConfig, type Config } from "../../server/platform/config/config.ts";
import { silentLogger, type Logger } from "../../server/platform/log/logger.ts";
import { createMetrics, type Metrics } from "../../server/platform/metrics/metrics.ts";
import { noFaults } from "../../server/platform/faults/recorder.ts";
import { systemClock, type Clock } from "../../server/platform/time/clock.ts";
import { operatorRoles, type OperatorCaller } from "../../server/http/auth/auth.ts";
import type { Route } from "../../server/http/pipeline/route.ts";
import { OutageWatch } from "../../server/operator/outages/watch.ts";
import { createOperatorServer } from "../../server/operator/server.ts";
import type { Identities } from "../../server/operator/session/identity.ts";
import { createLoginFailures } from "../../server/operator/session/login-failures.ts";
import type { OidcSignIn } from "../../server/operator/session/oidc.ts";
import type { SessionDeps } from "../../server/operator/session/routes.ts";
import { noRequests } from "../../server/platform/requests/tracker.ts";

/** Tokens and cookies of these operators: `token-of-viewer` and so on. */
const operators = new Map<string, OperatorCaller>(
  operatorRoles.map((role) => [`token-of-${role}`, { name: `the ${role}`, role }]),
);

/** Records of refused changes in a database. */
export const undoneRecordsIn =
  (orm: MikroORM): RecordUndone =>
  async (change) =>
    void (await recordChange(orm.em.fork(), change));

export interface TestOperatorOptions<D> {
  routes: readonly Route<D & SessionDeps>[];
  deps: D;
  identities?: Identities;
  config?: Config;
  clock?: Clock;
  log?: Logger;
  redis?: Redis;
  metrics?: Metrics;
  oidc?: OidcSignIn | null;
  /** Default: everything responds. */
  outages?: OutageWatch;
  /** Of an address that must be known before; otherwise a free one. */
  port?: number;
}

/** Everything responds. */
export const noOutages = (clock: Clock): OutageWatch =>
  new OutageWatch({
    stores: async () => ({ postgres: "ok", redis: "ok" }),
    processes: async () => ["the primary"],
    clock,
  });

/** A part of the operator listener, with an operator of each role. */
export async function startOperatorPart<D extends object>(options: TestOperatorOptions<D>) {
  const {
    routes,
    deps,
    config = parseConfig({}),
    clock = systemClock,
    log = silentLogger,
  } = options;
  const identities = options.identities ?? {
    fromToken: async (token) => operators.get(token) ?? null,
    fromCookie: async (cookie) => operators.get(cookie) ?? null,
    cookieFor: (signedIn) => (typeof signedIn === "string" ? signedIn : signedIn.name),
    end: async () => undefined,
  };
  const redis = options.redis ?? ({} as Redis);
  const metrics = options.metrics ?? createMetrics();
  const server = createOperatorServer({
    base: { config, clock, metrics, redis, faults: noFaults, requests: noRequests, tracer: null },
    deps: {
      ...{ ...deps, identities, loginFailures: createLoginFailures(clock) },
      oidc: options.oidc ?? null,
    },
    ...{ routes, log, outages: options.outages ?? noOutages(clock) },
  });
  const url = `http://127.0.0.1:${await server.listen("127.0.0.1", options.port ?? 0)}`;
  return { url, stop: () => server.drain() };
}
