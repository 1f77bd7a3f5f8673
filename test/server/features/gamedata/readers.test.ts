import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, describe, it, type TestContext } from "node:test";
import { sql } from "kysely";
import { builtProgram } from "../../../support/programs.ts";
import { projectionOf } from "../../../../db/projections/refresh.ts";
import { rowsOf } from "../../../../db/queries/rows.ts";
import { importEnvelope } from "../../../../importers/pipeline/import.ts";
import { writeEnvelopeFile } from "../../../../importers/envelope/write-envelope.ts";
import { startApp, type App } from "../../../support/app.ts";
import { envelope, importTime } from "../../../support/archive.ts";
import { made } from "../../../support/projected-game.ts";

/** No adapter exists for this game, so its folder contains envelope files. */
const game = "cinders";
const numItems = 190;
const patches = [1, 2, 3, 4, 5];

type Row = Record<string, unknown>;

/** A patch in which every item contains the patch number. */
const patch = (n: number) =>
  envelope({
    game,
    version: `1.${n}`,
    entities: Array.from({ length: numItems }, (_, at) =>
      made("item", `n${at}`, { name: "Item", gear_score: n, rarity_type: `Rarity.R${n}` }),
    ),
    locales: { en: { Item: `Item of ${n}` } },
  });

describe("clients of the projection", () => {
  let app: App;
  let folder: string;
  const run = async (program: string, ...args: string[]) => {
    const child = spawn(process.execPath, [...builtProgram(program), ...args], {
      env: {
        ...process.env,
        DATABASE_URL: app.stores.databaseUrl,
        REDIS_URL: app.stores.redisUrl,
        GAME_DATA_GAME: game,
        DATA_DIR: join(folder, "data"),
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [out, problems, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, "close"),
    ]);
    assert.equal(code, 0, problems);
    return out;
  };

  before(async () => {
    app = await startApp({ hasJobs: false, env: { GAME_DATA_GAME: game } });
    folder = mkdtempSync(join(tmpdir(), "ember-readers-"));
    const [first, ...rest] = patches;
    assert.ok(first);
    const options = { now: importTime, project: projectionOf(game) };
    await importEnvelope(app.deps.em, patch(first), options);
    for (const n of rest) await writeEnvelopeFile(patch(n), join(folder, `patches/${n}.json`));
  });
  after(async () => {
    await app.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Reads lists continuously until the work is done; every page must be from one state. */
  async function watch(t: TestContext, work: Promise<unknown>): Promise<number[]> {
    const seen = new Set<number>();
    const archived = new Set<unknown>();
    const waits: number[] = [];
    let isOver = false;
    const over = work.finally(() => (isOver = true));
    // A failure is thrown at the end, after the last page was checked.
    over.catch(() => {});
    for (let n = 0; !isOver; n++) {
      // Every other page is new, so it is read from the tables.
      const limit = n % 2 === 0 ? 200 : 1 + (n % (numItems - 1));
      const start = performance.now();
      const answer = await app.client.get(
        `/v2/items?limit=${limit}&sort=${n % 3 ? "asc" : "desc"}`,
      );
      waits.push(performance.now() - start);
      assert.equal(answer.status, 200, answer.text.slice(0, 200));
      const { count, rows } = answer.body as { count: number; rows: Row[] };
      assert.deepEqual([count, rows.length], [numItems, Math.min(limit, numItems)]);
      const states = rows.map((row) => `${row["gear_score"]} ${row["rarity"]} ${row["name"]}`);
      assert.equal(new Set(states).size, 1, "a page shows two states");
      seen.add(Number(rows[0]?.["gear_score"]));
      if (n % 4 === 0) archived.add(await archivedState(n));
    }
    await over;
    await app.deps.archive.reload();
    assert.deepEqual([...archived], [...archived].sort(), "the archive never goes back either");
    waits.sort((a, b) => a - b);
    const middle = waits[Math.floor(waits.length / 2)] ?? 0;
    const worst = waits.at(-1) ?? 0;
    t.diagnostic(
      `${waits.length} pages, middle ${middle.toFixed(1)} ms, worst ${worst.toFixed(1)} ms`,
    );
    return [...seen];
  }

  /** The patch of all entities in a list of the archive. */
  async function archivedState(n: number): Promise<unknown> {
    const query = `filter[data.gear_score]:gte=0&limit=${100 + (n % 100)}`;
    const { status, body, text: answer } = await app.client.get(`/v1/codex/${game}/item?${query}`);
    assert.equal(status, 200, answer.slice(0, 200));
    const { count, entities } = body as { count: number; entities: { data: Row }[] };
    const states = new Set(entities.map(({ data }) => data["gear_score"]));
    assert.deepEqual([count, states.size], [numItems, 1], "a list shows two patches");
    return [...states][0];
  }

  it("see either one patch or the next during imports", async (t) => {
    const seen = await watch(t, run("import", game, join(folder, "patches")));
    assert.deepEqual(seen, [...seen].sort(), "nobody goes back to an older patch");
    const last = (await app.client.get("/v2/item/id.item.n7")).body as Row;
    assert.equal(last["gear_score"], patches.at(-1));
  });

  it("do not wait for an import: they see the last committed patch", async () => {
    const undone = new Error("the import is undone");
    const importing = app.deps.orm.em.fork().transactional(async (em) => {
      const options = { now: importTime, project: projectionOf(game) };
      await importEnvelope(em, patch(patches.length + 1), options);
      const { rows } = (await app.client.get("/v2/items?limit=199")).body as { rows: Row[] };
      assert.ok(rows.every((row) => row["gear_score"] === patches.at(-1)));
      throw undone;
    });
    await assert.rejects(importing, undone);
  });

  it("see the rows before or after a rebuild, never a mixture", async (t) => {
    const em = app.deps.em;
    const age = sql`update projection_items set gear_score = 0, rarity = null, inputs_hash = 'old'`;
    await rowsOf(em, age);
    const seen = await watch(t, run("console", "projection:rebuild"));
    assert.ok(seen.every((state) => state === 0 || state === patches.at(-1)));
    const again = (await app.client.get("/v2/items?limit=200")).body as { rows: Row[] };
    assert.ok(again.rows.every((row) => row["gear_score"] === patches.at(-1)));
    await watch(t, run("console", "projection:rebuild", "--back"));
    const back = (await app.client.get("/v2/items?limit=200")).body as { rows: Row[] };
    assert.ok(back.rows.every((row) => row["gear_score"] === 0));
  });
});
