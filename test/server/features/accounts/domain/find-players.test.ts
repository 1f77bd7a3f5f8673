import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { findPlayers } from "../../../../../server/features/accounts/domain/find-players.ts";
import { startApp, type App } from "../../../../support/app.ts";
import { enter, registerAccount } from "../../../../support/identity.ts";

describe("players that an operator looks for", () => {
  let app: App;
  before(async () => {
    app = await startApp();
  });
  after(() => app.stop());

  const find = (text: string) => findPlayers(app.deps.em, text);

  it("are found by id, by name and by address, whatever the case", async () => {
    const { email, session } = await registerAccount(app);
    const { id, name } = session.player;
    const expected = { id, name, email, isGuest: false, isClosed: false };
    for (const text of [String(id), name, name.toUpperCase(), email, ` ${email.toUpperCase()} `])
      assert.deepEqual(await find(text), [expected], text);
  });

  it("are guests too", async () => {
    const { player } = await enter(app);
    const [found, ...more] = await find(String(player.id));
    assert.deepEqual([found?.isGuest, found?.email, more], [true, null, []]);
  });

  it("are none for a part of a name, a missing id, or no text", async () => {
    const { session } = await registerAccount(app);
    const texts = [session.player.name.slice(0, -1), "999999999", "99999999999", "", "  "];
    for (const text of [...texts, "a\u0000b", "x".repeat(400), "%", "nobody@example.com"])
      assert.deepEqual(await find(text), [], JSON.stringify(text));
  });
});
