import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { importEnvelope } from "../../importers/pipeline/import.ts";
import { reconcileProjection } from "../../workers/processors/projection-rebuild.ts";
import { projectionRebuild } from "../../workers/queues.ts";
import { startApp, type App } from "../support/app.ts";
import { envelope, importTime } from "../support/archive.ts";
import { eventually } from "../support/eventually.ts";
import { made, smallGame, smallTexts } from "../support/projected-game.ts";
import { noOrigin } from "../../server/platform/origin.ts";

const game = "gamedata";
const limitMs = 60_000;

describe("the projection-rebuild job", () => {
  let app: App;
  let stamp = 0;
  const numItems = async () => {
    const { body } = await app.client.get("/v2/items?locale=de");
    return (body as { count: number }).count;
  };
  const ask = (action: "preview" | "apply" | "back", build: number | null = null) =>
    app.deps.enqueueAndWait(
      projectionRebuild,
      { game, action, build, stamp: ++stamp },
      noOrigin,
      limitMs,
    );

  before(async () => {
    app = await startApp();
    // Like an archive that existed before the projection.
    const source = envelope({ game, entities: smallGame(), locales: smallTexts() });
    await importEnvelope(app.deps.em, source, { now: importTime });
  });
  after(() => app.stop());

  it("is queued once by the service when the tables come from another projector version", async () => {
    assert.equal(await numItems(), 0);
    await reconcileProjection(app.deps);
    await eventually("the rows are there", async () => (await numItems()) === 4);
    assert.equal(await ask("preview"), true);
    const enqueue = () => assert.fail("there is nothing to rebuild");
    await reconcileProjection({ ...app.deps, em: app.deps.em, enqueue });
  });

  it("is queued when an import leaves the tables outdated, and never to undo a rollback", async () => {
    const more = [...smallGame(), made("item", "spoon", { name: "Item_Boots" })];
    const source = envelope({ game, version: "1.1", entities: more, locales: smallTexts() });
    // Like a command started for another game.
    await importEnvelope(app.deps.em, source, { now: importTime });
    const jobs: unknown[] = [];
    const enqueue = async (_: unknown, payload: unknown) => String(jobs.push(payload));
    const reconcile = () => reconcileProjection({ ...app.deps, em: app.deps.em, enqueue });
    await reconcile();
    assert.equal(jobs.length, 1);
    for (const action of ["apply", "back"] as const) {
      assert.equal(await ask(action), true);
      await reconcile();
    }
    assert.equal(jobs.length, 1);
  });

  it("applies and rolls back, and fails permanently when the build does not exist", async () => {
    assert.equal(await ask("apply"), true);
    assert.equal(await ask("back"), true);
    assert.equal(await ask("back"), false);
    assert.equal(await ask("apply", 987_654), false);
    assert.equal(await numItems(), 4);
  });
});
