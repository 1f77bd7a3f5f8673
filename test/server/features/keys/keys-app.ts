import { after, before } from "node:test";
import { silentLogger } from "../../../../server/platform/log/logger.ts";
import { createHttpServer, type HttpServer } from "../../../../server/http/uws/server.ts";
import { LruApiKeyCache } from "../../../../server/features/keys/domain/api-key-cache.ts";
import type { Deps } from "../../../../server/app/deps.ts";
import { routes } from "../../../../server/app/routes.ts";
import { startApp, type App } from "../../../support/app.ts";
import { createClient, type Client } from "../../../support/client.ts";
import { manualClock } from "../../../support/clock.ts";
import { registerAccount } from "../../../support/identity.ts";
import { probes } from "./probes.ts";

export const keysPath = "/v1/realms/gamedata/keys";
export const me = "/v1/users/@me";
export let clock = manualClock();
const all = [...routes, ...probes];
export let app: App;
export let workers: Worker[];

/** A separate worker as far as keys are concerned: its own cache and listener. */
interface Worker {
  client: Client;
  cache: LruApiKeyCache;
  server: HttpServer;
}

async function startWorker(): Promise<Worker> {
  const cache = newKeyCache();
  const config = { ...app.deps.config, RATE_LIMIT_FACTOR: 1, TRUSTED_PROXIES: "127.0.0.1/32" };
  const deps = Object.create(app.deps, {
    keys: { value: cache },
    config: { value: config },
  }) as Deps;
  const server = createHttpServer({ deps, routes: all, log: silentLogger, exclusive: true });
  const port = await server.listen("127.0.0.1", 0);
  return { client: createClient(`http://127.0.0.1:${port}`, all), cache, server };
}

export const newKeyCache = (maxKeys?: number) =>
  new LruApiKeyCache({
    orm: app.deps.orm,
    clock,
    log: silentLogger,
    ...(maxKeys === undefined ? {} : { maxKeys }),
  });

export interface Key {
  id: number;
  prefix: string;
}

export async function owner() {
  const { session } = await registerAccount(app);
  const token = session.access_token;
  const create = async (body: Record<string, unknown> = {}) => {
    const answer = await app.client.post(keysPath, { token, body: { name: "x", ...body } });
    const made = answer.body as { key: Key; plaintext: string };
    return { ...made.key, plaintext: made.plaintext };
  };
  return { id: session.player.id, session, token, create };
}

export const codeOf = ({ status, json }: { status: number; json: unknown }) => {
  const error = (json as { flash?: { errors?: { code: string }[] } }).flash?.errors?.[0];
  return error === undefined ? `${status}` : `${status} ${error.code}`;
};

export const probe = "/v1/games/trivia/probe";

/** The service with two workers, as far as keys are concerned. */
export function startsKeysApp(): void {
  before(async () => {
    clock = manualClock();
    app = await startApp({ clock, hasJobs: false });
    workers = [await startWorker(), await startWorker()];
  });
  after(async () => {
    for (const { server } of workers) await server.close();
    await app.stop();
  });
}
