import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import Type from "typebox";
import { projectionOf } from "../../db/projections/refresh.ts";
import type { AnyRoute } from "../../server/http/pipeline/route.ts";
import { routes } from "../../server/app/routes.ts";
import { startApp, type App } from "../support/app.ts";
import { load } from "../support/archive.ts";
import { fuzzRoutes } from "../support/fuzz.ts";
import { enter, registerAccount } from "../support/identity.ts";
import { smallGame, smallTexts } from "../support/projected-game.ts";
import { openTable, playing, type Table } from "./features/lobbies/seats.ts";

const seed = Number(process.env["FUZZ_SEED"] ?? 20_260_418);
const requests = 2_000;
const archiveRequests = 400;
/** Numbers used as values in random requests. */
const versions = ["0", "1000"] as const;

/** The OpenAPI document is JSON without an envelope. */
const isPlainJson = ({ responses }: AnyRoute): boolean => {
  const [ok] = Object.values(responses);
  return ok !== null && "kind" in Object(ok) && JSON.stringify(ok).includes('"application/json');
};

/**
 * Paths that refuse in the form of their own protocol, which has its own fuzz test. All their methods: a random request
 * may have another one than its route.
 */
const ownProtocol: ReadonlySet<string> = new Set(
  routes
    .filter(({ responses }) => Object.keys(responses).some((status) => Number(status) >= 400))
    .map(({ path }) => path),
);

/** Random codes match no lobby, so routes of existing lobbies are added. */
const withCodes = (tables: Table[]): AnyRoute[] =>
  routes
    .filter((route) => !isPlainJson(route) && !ownProtocol.has(route.path))
    .flatMap((route) =>
      route.path.includes("{code}")
        ? [route, ...tables.map(({ code }) => ({ ...route, path: fill(route.path, code) }))]
        : [route],
    );
const fill = (path: string, code: string) => path.replace("{code}", code);

/** Ids in the archive and the projection, for routes that take them; filters are not declared parameters. */
const named = { "{game}": "gamedata", "{game_data_slug}": "gamedata", "{type}": "item" };
const filters = ["filter[data.gear_score]", "filter[data.gear_score]:gt", "filter[tags]:ne"];
function archiveRoutes(): AnyRoute[] {
  const isSelected = ({ path }: AnyRoute) =>
    /^\/v1\/codex\/\{game\}|\/(?:\{game_data_slug\}|v2)\/(?:item|facets)/.test(path);
  return routes.filter(isSelected).flatMap((route) => {
    const path = Object.entries(named).reduce(
      (at, [name, one]) => at.replace(name, one),
      route.path,
    );
    const properties = Object.fromEntries(filters.map((name) => [name, Type.String()]));
    const query = Type.Object({ ...route.query?.properties, ...properties });
    const known = path.replace("{id}", "id.item.boots").replace("{version}", versions[0]);
    return [...new Set([path, known])].map((one) => ({ ...route, path: one, query }));
  });
}

describe("the whole service under random requests", () => {
  let app: App;
  before(async () => {
    app = await startApp();
    for (const version of versions)
      await load(
        app,
        { game: "gamedata", version, entities: smallGame(), locales: smallTexts() },
        { project: projectionOf("gamedata") },
      );
  });
  after(() => app.stop());

  it(`gives each of ${requests + archiveRequests} an answer below 500 (FUZZ_SEED=${seed})`, async (t) => {
    const guest = await enter(app);
    const { session } = await registerAccount(app);
    // The first request for them stocks the bank: beside many others it may reach the deadline of a busy machine.
    const today = "/v1/games/trivia/challenges/today";
    assert.equal((await app.client.get(today, { token: session.access_token })).status, 200);
    const waiting = await openTable(app, {}, 1);
    const versus = await playing(app, { mode: "versus", numQuestions: 50 }, 2);
    const coop = await playing(app, { numQuestions: null }, 2);
    const tables = [waiting, versus, coop];
    const credentials = [
      { Authorization: `Bearer ${guest.access_token}` },
      { Authorization: `Bearer ${session.access_token}` },
      { Cookie: `svc_refresh=${session.refresh_token}` },
      ...tables.flatMap(({ host, guests }) => [
        { "X-Lobby-Token": host.token },
        { Cookie: `svc_lobby=${guests[0]?.token}` },
      ]),
    ];
    const options = { runs: requests, seed, credentials };
    // Concurrent, because both wait for heads that never end.
    const [report, archive] = await Promise.all([
      fuzzRoutes(app.url, withCodes(tables), options),
      fuzzRoutes(app.url, archiveRoutes(), { runs: archiveRequests, seed }),
    ]);
    t.diagnostic(`seed ${seed}: ${JSON.stringify(Object.fromEntries(report.statuses))}`);
    for (const status of [200, 400, 404])
      assert.ok(archive.statuses.has(status), `no request of the archive got ${status}`);
    for (const status of [200, 204, 400, 401, 403, 404, 405, 415, 422])
      assert.ok(report.statuses.has(status), `no request got ${status}: they are too tame`);
    assert.equal((await app.client.get("/v1/games/trivia/lobbies")).status, 200);
  });
});
