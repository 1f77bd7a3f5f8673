import assert from "node:assert/strict";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { UnrecoverableError } from "bullmq";
import { sql } from "kysely";
import { lockGame } from "../../db/queries/archive/codex-import.ts";
import { rowsOf } from "../../db/queries/rows.ts";
import { importEnvelope } from "../../importers/pipeline/import.ts";
import { writeEnvelopeFile } from "../../importers/envelope/write-envelope.ts";
import { silentLogger } from "../../server/platform/log/logger.ts";
import { createQueues } from "../../workers/producer.ts";
import { importFromFile } from "../../workers/processors/codex-import.ts";
import { maintain } from "../../workers/processors/maintenance.ts";
import { codexImport, type JobProgress } from "../../workers/queues.ts";
import { startApp, type App } from "../support/app.ts";
import { entity, envelope } from "../support/archive.ts";
import { noOrigin } from "../../server/platform/origin.ts";

describe("the job that imports an envelope", () => {
  let app: App;
  let folder: string;
  const file = (name: string) => join(folder, name);
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "ember-job-"));
    app = await startApp({ env: { IMPORT_DIR: folder } });
  });
  after(async () => {
    await app.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it("makes the game available, and changes nothing the second time", async () => {
    await writeEnvelopeFile(envelope({ entities: [entity("id.item.a")] }), file("a.json"));
    const job = { game: "dungeon", envelope: file("a.json"), stamp: 1 };
    assert.equal((await app.client.get("/v1/codex/dungeon/item")).status, 404);
    assert.equal(await app.deps.enqueueAndWait(codexImport, job, noOrigin, 20_000), true);
    await app.deps.archive.reload();
    const { body } = await app.client.get("/v1/codex/dungeon/item");
    assert.equal((body as { count: number }).count, 1);
    const { unchanged, added } = await importFromFile(job, app.deps);
    assert.deepEqual({ unchanged, added }, { unchanged: 1, added: 0 });
  });

  it("fails with the counts when it would remove most of a branch, and keeps the branch available", async () => {
    const entities = ["a", "b", "c"].map((name) => entity(`id.item.${name}`));
    const game = "shrink";
    await writeEnvelopeFile(envelope({ game, entities }), file("three.json"));
    await writeEnvelopeFile(
      envelope({ game, version: "2.0", entities: entities.slice(2) }),
      file("one.json"),
    );
    const job = (name: string, more = {}) => ({
      game,
      envelope: file(name),
      stamp: Date.now(),
      ...more,
    });
    assert.equal(
      await app.deps.enqueueAndWait(codexImport, job("three.json"), noOrigin, 20_000),
      true,
    );
    const small = job("one.json");
    assert.equal(await app.deps.enqueueAndWait(codexImport, small, noOrigin, 20_000), false);
    const queues = createQueues(app.deps.config.REDIS_URL, silentLogger);
    try {
      const queue = queues.all().find(({ name }) => name === codexImport.name);
      const failed = await queue?.getJob(codexImport.jobId(small));
      assert.match(failed?.failedReason ?? "", /0 added, 0 changed, 2 removed, 1 unchanged/);
    } finally {
      await queues.close();
    }
    await app.deps.archive.reload();
    const count = async () =>
      ((await app.client.get(`/v1/codex/${game}/item`)).body as { count: number }).count;
    assert.equal(await count(), 3);
    const allowed = job("one.json", { allowShrink: true, stamp: small.stamp + 1 });
    assert.equal(await app.deps.enqueueAndWait(codexImport, allowed, noOrigin, 20_000), true);
    assert.equal((await importFromFile(small, app.deps)).unchanged, 1);
  });

  it("is followed by a clean-up of the data of a replaced patch only", async () => {
    const files = Object.fromEntries(["a", "b", "c"].map((name) => [name, Buffer.from(name)]));
    const assets = Object.keys(files).map((path) => ({ path, media_type: "image/png" }));
    const icons = (...names: string[]) =>
      importEnvelope(
        app.deps.em,
        envelope({
          game: "icons",
          assets,
          files,
          entities: names.map((icon) => entity(`id.item.${icon}`, { icon })),
        }),
        { now: 0 },
      );
    const left = async () => {
      const [row] = await rowsOf(
        app.deps.em,
        sql<{ documents: number; assets: string }>`
          select (select count(*)::int from codex_documents d join codex_games g on g.id = d.game_id
              where g.slug = 'icons') as documents,
            (select string_agg(convert_from(content, 'UTF8'), '' order by content)
              from codex_assets) as assets`,
      );
      return row;
    };
    await icons("a", "b");
    await icons("a");
    assert.deepEqual(await left(), { documents: 2, assets: "abc" });
    // Not while an import may be about to reference it.
    await app.deps.em.transactional(async (tx) => {
      await lockGame(tx, "other");
      await maintain({ task: "archive" }, app.deps);
    });
    assert.deepEqual(await left(), { documents: 2, assets: "abc" });
    await maintain({ task: "archive" }, app.deps);
    assert.deepEqual(await left(), { documents: 1, assets: "a" });
  });

  it("reports its progress, and leaves no trace when it is cancelled", async () => {
    const many = Array.from({ length: 600 }, (_, n) => entity(`id.item.n${n}`));
    await writeEnvelopeFile(envelope({ game: "long", entities: many }), file("long.json"));
    const job = { game: "long", envelope: file("long.json"), stamp: 1 };
    const control = new AbortController();
    const told: string[] = [];
    const report = ({ phase, done, total, progress }: JobProgress) => {
      told.push(`${phase} ${done}/${total} ${progress}%`);
      if (done > 500) control.abort(new UnrecoverableError("not wanted"));
    };
    const watch = { signal: control.signal, report };
    await assert.rejects(importFromFile(job, app.deps, watch), UnrecoverableError);
    assert.deepEqual(told, ["entities 256/600 42%", "entities 512/600 85%"]);
    assert.equal((await app.client.get("/v1/codex/long/manifest")).status, 404);
    await assert.rejects(importFromFile(job, app.deps, watch), UnrecoverableError);
  });

  it("reads real files below IMPORT_DIR only, and none without that setting", async () => {
    const outside = mkdtempSync(join(tmpdir(), "ember-job-"));
    const elsewhere = join(outside, "secret.json");
    await writeEnvelopeFile(envelope({ game: "x", entities: [entity("id.item.a")] }), elsewhere);
    symlinkSync(elsewhere, file("link.json"));
    const importing = (path: string, deps = app.deps) =>
      importFromFile({ game: "x", envelope: path, stamp: 1 }, deps);
    try {
      for (const path of [elsewhere, file("link.json"), file("../x.json"), "/etc/passwd", folder])
        await assert.rejects(importing(path), (error: unknown) => {
          assert.ok(error instanceof UnrecoverableError);
          assert.equal(error.message, `${path}: no file below IMPORT_DIR (${folder})`);
          return true;
        });
      const unset = { ...app.deps, config: { ...app.deps.config, IMPORT_DIR: "" } };
      await assert.rejects(importing(file("a.json"), unset), /set IMPORT_DIR/);
      assert.equal((await app.client.get("/v1/codex/x/manifest")).status, 404);
    } finally {
      rmSync(outside, { recursive: true, force: true });
    }
  });

  it("drops an envelope that can never be imported", async () => {
    writeFileSync(file("bad.json"), "{}");
    for (const envelopeFile of ["bad.json", "none.json", "a.json"])
      await assert.rejects(
        importFromFile({ game: "x", envelope: file(envelopeFile), stamp: 1 }, app.deps),
        UnrecoverableError,
      );
  });
});
