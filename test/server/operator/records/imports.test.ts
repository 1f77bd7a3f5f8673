import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { entity, load } from "../../../support/archive.ts";
import { app, linkIn, open, queues, read, rowsIn, startsRecords } from "./records-app.ts";

interface Imports {
  imports: { game: string; patch: string; state: string; revision: number; num_added: number }[];
  queue: { name: string } | null;
}

const path = "/operator/imports";

describe("imports as operators see them", () => {
  startsRecords();
  before(async () => {
    const now = (minute: number) => ({ now: Date.UTC(2026, 0, 1, 0, minute) });
    const sword = entity("id.item.sword");
    await load(app, { game: "dungeon", version: "1.0", entities: [sword] }, now(1));
    await load(app, { game: "castle", version: "7", entities: [sword] }, now(2));
    await load(
      app,
      { game: "dungeon", version: "1.1", entities: [sword, entity("id.item.axe")] },
      now(3),
    );
  });

  it("are listed with game, patch, state and rows, the latest first", async () => {
    const { body, pagination } = await read<Imports>(`${path}?limit=2`);
    assert.deepEqual(
      body.imports.map(({ game, patch, state, num_added }) => [game, patch, state, num_added]),
      [
        ["dungeon", "1.1", "newest", 1],
        ["castle", "7", "newest", 1],
      ],
    );
    assert.deepEqual(pagination, { page: 1, limit: 2, total: 3, has_more: true });
    const { text } = await open(`${path}?limit=2`);
    const next = linkIn(text, "Next") ?? assert.fail("no link to the next page");
    const second = rowsIn((await open(next)).text).at(-1);
    assert.deepEqual(second?.slice(1), ["dungeon", "main", "1.0", "earlier", "0", "1", "0", "0"]);
  });

  it("are listed of one game", async () => {
    const { body } = await read<Imports>(`${path}?game=castle`);
    assert.equal(body.imports.length, 1);
    const { text } = await open(`${path}?game=castle`);
    assert.match(text, /Of castle\./);
    assert.equal(linkIn(text, "All games"), path);
    assert.match((await open(`${path}?game=none`)).text, /None\./);
  });

  it("are shown while Redis is away, which leaves the jobs unknown", async (t) => {
    t.mock.method(queues, "queue", async () => {
      throw new Error("away");
    });
    const { text, status } = await open(path);
    assert.equal(status, 200);
    assert.match(text, /Redis does not respond/);
    assert.equal((await read<Imports>(path)).body.queue, null);
  });
});
