import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { commands } from "../../../server/console/commands.ts";
import { app, refused, run, startsConsoleApp } from "./console-app.ts";

interface Listed {
  total: number;
  entries: { operator: string; action: string; target: string; outcome: string }[];
}

describe("the command audit:list", () => {
  startsConsoleApp();

  const list = async (options: Record<string, string> = {}) =>
    (await run("audit:list", options)) as unknown as Listed;

  it("lists the changes of the console with their outcome, newest first", async () => {
    await run("operator:create", { name: "ada", role: "viewer" });
    await run("realm:create", { slug: "one", name: "One" });
    await run("operator:revoke", { name: "ada" });
    const { total, entries } = await list();
    assert.equal(total, 3);
    assert.deepEqual(
      entries.map(({ operator, action, target, outcome }) => [operator, action, target, outcome]),
      [
        ["console", "operator:revoke", "ada", "done"],
        ["console", "realm:create", "one", "done"],
        ["console", "operator:create", "ada", "done"],
      ],
    );
  });

  it("lists what was refused, of which nothing else stays", async () => {
    await refused("operator:create", { name: "ada", role: "admin" }, "operator:exists");
    await refused("operator:revoke", { name: "ada" }, "operator:not_found");
    await refused("realm:create", { slug: "one", name: "Again" }, "realm:exists");
    await refused("realm:change", { slug: "two", active: "true" }, "realm:not_found");
    await refused("oauth:client-revoke", { client: "nobody" }, "oauth:client_not_found");
    await refused("ingots:spend", { player: "7", amount: "5" }, "player:not_found");
    await refused("import:cancel", { game: "none" }, "import:no_job");
    const { total, entries } = await list({ limit: "7" });
    assert.equal(total, 10);
    assert.deepEqual(
      entries.map(({ action, target, outcome }) => [action, target, outcome]),
      [
        ["import:cancel", "none", "refused"],
        ["ingots:spend", "player 7", "refused"],
        ["oauth:client-revoke", "nobody", "refused"],
        ["realm:change", "two", "refused"],
        ["realm:create", "one", "refused"],
        ["operator:revoke", "ada", "refused"],
        ["operator:create", "ada", "refused"],
      ],
    );
  });

  it("searches by operator, action, target and time", async () => {
    assert.equal((await list({ operator: "nobody" })).entries.length, 0);
    assert.equal((await list({ action: "realm:create" })).entries.length, 2);
    assert.equal((await list({ target: "ada", limit: "1" })).total, 4);
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
    assert.equal((await list({ since: tomorrow })).entries.length, 0);
    assert.equal((await list({ until: tomorrow })).entries.length, 10);
    await refused("audit:list", { since: "yesterday" }, "audit:time_invalid");
    for (const limit of ["0", "many", "10001"])
      await refused("audit:list", { limit }, "validation:failed");
  });

  it("prints CSV", async () => {
    const command = commands.find(({ name }) => name === "audit:list") ?? assert.fail();
    const text = await command.run(app.deps.config, { csv: true, action: "realm:create" });
    assert.ok(typeof text === "string");
    assert.match(text, /^\ufeff"id","created_at","operator",[^]*"realm:create","one"/);
  });
});
