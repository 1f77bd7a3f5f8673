import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { sql } from "kysely";
import { rowsOf } from "../../db/queries/rows.ts";
import { startApp, type App } from "../support/app.ts";
import { registerAccount } from "../support/identity.ts";

describe("statements of the previous release, which may still be running", () => {
  let app: App;
  before(async () => {
    app = await startApp({ hasJobs: false });
  });
  after(() => app.stop());

  it("link an account of a provider, and update the link", async () => {
    const { session } = await registerAccount(app);
    const playerId = session.player.id;
    const em = app.deps.orm.em.fork();
    const link = (name: string) =>
      rowsOf(
        em,
        sql`insert into oauth_connections as c (player_id, provider, subject, name, avatar_url, linked_at)
          values (${playerId}, 'google', 'subject-1', ${name}, null, ${new Date()})
          on conflict (provider, subject) do update
            set name = excluded.name, avatar_url = excluded.avatar_url
            where c.player_id = excluded.player_id
          returning id`,
      );
    const [first] = await link("Ada");
    assert.deepEqual(await link("Ada L."), [first]);
  });
});
