import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { sql } from "kysely";
import type { OperatorRole } from "../../../../server/http/auth/auth.ts";
import { registerAccount } from "../../../support/identity.ts";
import { app, linkIn, open, read, run, startsRecords } from "./records-app.ts";

interface Uploads {
  player: { id: number; name: string };
  uploads: { id: number; status: string }[];
  next: number | null;
}

describe("the uploads of a player as operators see them", () => {
  startsRecords();
  let id: number;
  before(async () => {
    id = (await registerAccount(app)).session.player.id;
    const other = (await registerAccount(app)).session.player.id;
    const insert = (player: number, status: string) =>
      run(sql`insert into avatar_uploads (player_id, status, file, selection_v, created_at)
        values (${player}, ${status}, 'a-file', 0, now())`);
    await insert(id, "approved");
    await insert(other, "queued");
    await insert(id, "storing");
    await insert(id, "queued");
  });
  const path = () => `/operator/players/${id}/uploads`;

  it("are the player's own, newest first, page by page", async () => {
    const { body } = await read<Uploads>(`${path()}?limit=1`);
    assert.deepEqual(
      body.uploads.map(({ status }) => status),
      ["queued"],
    );
    const { text } = await open(`${path()}?limit=1`);
    const more = linkIn(text, "More") ?? assert.fail("no link to the next page");
    assert.match((await open(more)).text, /action="\/operator\/avatar-uploads\/\d+\/reject"/);
    const rest = (await read<Uploads>(`${path()}?cursor=${body.next ?? assert.fail()}`)).body;
    assert.deepEqual([rest.uploads[0]?.status, rest.next], ["approved", null]);
    assert.equal((await read("/operator/players/2147483647/uploads")).status, 404);
  });

  it("have the buttons of the review, after which a browser returns to the player", async () => {
    const formsAs = async (role: OperatorRole) =>
      (await open(path(), { role })).text.match(/name="back"\s+value="([^"]+)"/)?.[1];
    assert.equal(await formsAs("viewer"), undefined);
    assert.match((await formsAs("operator")) ?? "", new RegExp(`^${path()}.*#upload-`));
  });
});
