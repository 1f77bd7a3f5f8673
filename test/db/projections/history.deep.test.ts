import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { sql } from "kysely";
import { localeChain, presentRow } from "../../../db/projections/present.ts";
import { previewRebuild } from "../../../db/projections/rebuild.ts";
import { projectionOf } from "../../../db/projections/refresh.ts";
import type { Row } from "../../../db/projections/project.ts";
import { resources } from "../../../db/projections/resources/index.ts";
import { StateReader } from "../../../db/projections/read-context.ts";
import { readDirectory, type CodexPatch } from "../../../db/queries/archive/codex-directory.ts";
import { rowsOf } from "../../../db/queries/rows.ts";
import { importEnvelope } from "../../../importers/pipeline/import.ts";
import { readSample } from "../../../importers/samples/cinderhold/sample.ts";
import { importTime, startArchive, type Archive } from "../../support/archive.ts";

const game = "gamedata";
/** Id -> the document in one language. */
type Documents = ReadonlyMap<string, string>;

describe("the projection of the sample game", () => {
  let archive: Archive;
  /** Raw version and language -> the documents served while that patch was the newest. */
  const served = new Map<string, Documents>();
  const languages = ["en", "de"];

  const liveDocuments = async (locale: string): Promise<Documents> => {
    const chain = localeChain(locale);
    const documents = new Map<string, string>();
    for (const resource of resources) {
      const rows = await rowsOf(
        archive.orm.em.fork(),
        sql<Row>`select * from ${sql.table(resource.table)}`,
      );
      for (const row of rows)
        documents.set(String(row["id"]), presentRow(resource, row, chain, "single"));
    }
    return documents;
  };
  const mainOf = async () => {
    const [found] = await readDirectory(archive.orm.em.fork(), game);
    assert.ok(found);
    return { gameId: found.id, patches: found.branches.get("main")?.patches ?? [] };
  };
  /** Every document as read at a patch. */
  const pastDocuments = async (gameId: number, patch: CodexPatch, locale: string) => {
    const chain = localeChain(locale);
    const em = archive.orm.em.fork();
    const state = { branchId: patch.branchId, ord: patch.ord };
    const documents = new Map<string, string>();
    for (const resource of resources) {
      const ids = await rowsOf(
        em,
        sql<{ id: string }>`select key as id from codex_entities
          where game_id = ${gameId} and type = ${resource.type} order by key`,
      );
      const reader = new StateReader(em, gameId, state, chain);
      const made = await reader.project(
        resource,
        ids.map(({ id }) => id),
      );
      for (const { row } of made)
        documents.set(String(row["id"]), presentRow(resource, row, chain, "single"));
    }
    return documents;
  };
  /** The archive stores only the newest upstream key of an entity, at whatever patch it is read (COD-16). */
  const sameKey = (text = "") => text.replace(/"upstream_key":"[^"]*"/, "");
  const assertSame = (found: Documents, expected: Documents, what: string) => {
    assert.deepEqual([...found.keys()].sort(), [...expected.keys()].sort(), what);
    for (const [id, text] of expected) assert.equal(found.get(id), text, `${what}: ${id}`);
  };

  before(async () => {
    archive = await startArchive();
    for await (const envelope of readSample(game)) {
      await importEnvelope(archive.orm.em.fork(), envelope, {
        now: importTime,
        project: projectionOf(game),
      });
      if (envelope.header.branch.slug !== "main") continue;
      for (const locale of languages)
        served.set(`${envelope.header.patch.version_raw} ${locale}`, await liveDocuments(locale));
    }
  });
  after(() => archive.stop());

  it("has rows of every resource, in more than one language", async () => {
    for (const { table } of resources) {
      const [row] = await rowsOf(
        archive.orm.em.fork(),
        sql<{ count: number }>`select count(*)::int as count from ${sql.table(table)}`,
      );
      assert.ok((row?.count ?? 0) > 0, table);
    }
    const [english, german] = [await liveDocuments("en"), await liveDocuments("de")];
    assert.ok([...english].some(([id, text]) => german.get(id) !== text));
  });

  it("returns at the newest patch exactly the current output, byte for byte", async () => {
    const { gameId, patches } = await mainOf();
    const head = patches.at(-1);
    assert.ok(head);
    for (const locale of languages)
      assertSame(await pastDocuments(gameId, head, locale), await liveDocuments(locale), locale);
  });

  it("returns at every older patch what it returned when that patch was the newest", async () => {
    const { gameId, patches } = await mainOf();
    assert.ok(patches.length >= 3);
    for (const patch of patches) {
      const then = served.get(`${patch.versionRaw} de`);
      assert.ok(then, patch.versionRaw);
      const past = await pastDocuments(gameId, patch, "de");
      assert.deepEqual([...past.keys()].sort(), [...then.keys()].sort());
      for (const [id, text] of then) assert.equal(sameKey(past.get(id)), sameKey(text), id);
    }
  });

  it("is the same after many imports as when built from nothing", async () => {
    const build = await archive.orm.em.fork().transactional((em) => previewRebuild(em, game));
    assert.deepEqual([build.numAdded, build.numChanged, build.numRemoved], [0, 0, 0]);
  });
});
