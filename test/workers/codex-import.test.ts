import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { UnrecoverableError } from "bullmq";
import { writeEnvelopeFile } from "../../importers/write-envelope.ts";
import { importFromFile } from "../../workers/processors/codex-import.ts";
import { codexImport } from "../../workers/queues.ts";
import { startApp, type App } from "../support/app.ts";
import { entity, envelope } from "../support/archive.ts";

describe("the job that imports an envelope", () => {
  let app: App;
  let folder: string;
  const file = (name: string) => join(folder, name);
  before(async () => {
    app = await startApp();
    folder = mkdtempSync(join(tmpdir(), "ember-job-"));
  });
  after(async () => {
    await app.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it("makes the game readable, and changes nothing the second time", async () => {
    await writeEnvelopeFile(envelope({ entities: [entity("id.item.a")] }), file("a.json"));
    const job = { game: "dungeon", envelope: file("a.json"), stamp: 1 };
    assert.equal((await app.client.get("/v1/codex/dungeon/item")).status, 404);
    assert.equal(await app.deps.enqueueAndWait(codexImport, job, 20_000), true);
    const { body } = await app.client.get("/v1/codex/dungeon/item");
    assert.equal((body as { count: number }).count, 1);
    const { unchanged, added } = await importFromFile(job, app.deps);
    assert.deepEqual({ unchanged, added }, { unchanged: 1, added: 0 });
  });

  it("gives an envelope up that can never be imported", async () => {
    writeFileSync(file("bad.json"), "{}");
    for (const envelopeFile of ["bad.json", "none.json", "a.json"])
      await assert.rejects(
        importFromFile({ game: "x", envelope: file(envelopeFile), stamp: 1 }, app.deps),
        UnrecoverableError,
      );
  });
});
