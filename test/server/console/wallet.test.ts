import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { sql } from "kysely";
import { builtProgram } from "../../support/programs.ts";
import { findAward } from "../../../db/queries/wallet/awards.ts";
import { readWallet } from "../../../db/queries/wallet/wallets.ts";
import { rowsOf } from "../../../db/queries/rows.ts";
import { parseConfig } from "../../../server/platform/config/config.ts";
import { Refusal } from "../../../server/console/command.ts";
import { commands } from "../../../server/console/commands.ts";
import { startApp, type App } from "../../support/app.ts";
import { enter } from "../../support/identity.ts";

let app: App;
let dir: string;
const env = () => ({ DATABASE_URL: app.stores.databaseUrl, REDIS_URL: app.stores.redisUrl });

async function run(name: string, options: Record<string, string>) {
  const command = commands.find((each) => each.name === name);
  assert.ok(command, name);
  return (await command.run(parseConfig(env()), options)) as Record<string, unknown>;
}

const refused = (name: string, options: Record<string, string>, code: RegExp) =>
  assert.rejects(
    run(name, options),
    (error) => error instanceof Refusal && code.test(error.message),
  );

const newPlayer = async () => String((await enter(app)).player.id);
const wallet = (player: string) => readWallet(app.deps.orm.em.fork(), Number(player));

const file = (content: string) => {
  const path = join(dir, "definitions.json");
  writeFileSync(path, content);
  return { file: path };
};

describe("the wallet commands", () => {
  before(async () => {
    app = await startApp({ hasJobs: false });
    dir = mkdtempSync(join(tmpdir(), "ember-defs-"));
  });
  after(async () => {
    rmSync(dir, { recursive: true, force: true });
    await app.stop();
  });

  describe("move money", () => {
    it("cover every operation with the right effect on the balance", async () => {
      const player = await newPlayer();
      const seen = [];
      for (const [name, amount] of [
        ["ingots:credit", "500"],
        ["ingots:gift", "20"],
        ["ingots:spend", "120"],
        ["ingots:refund", "20"],
        ["ingots:admin", "5"],
        ["ingots:admin", "-25"],
        ["embers:grant", "300"],
        ["embers:spend", "40"],
        ["embers:admin", "2"],
        ["embers:admin", "-200"],
      ] as const) {
        const { source, balance, purchased, lifetime } = await run(name, { player, amount });
        seen.push([source, balance, purchased ?? lifetime]);
      }
      assert.deepEqual(seen, [
        ["purchase", 500, 500],
        ["gift", 520, 520],
        ["spend", 400, 520],
        ["refund", 420, 520],
        ["admin", 425, 525],
        ["admin", 400, 525],
        ["bonus", 300, 300],
        ["spend", 260, 300],
        ["admin", 262, 302],
        ["admin", 62, 302],
      ]);
    });

    it("apply a reference once per kind of movement, also under concurrent calls", async () => {
      const player = await newPlayer();
      const order = {
        player,
        amount: "50",
        reason: "500 Ingots",
        refType: "shop",
        refId: "order-1",
      };
      const answers = await Promise.all([1, 2, 3].map(() => run("ingots:credit", order)));
      assert.deepEqual(answers.map((one) => one["is_repeat"]).sort(), [false, true, true]);
      assert.equal(new Set(answers.map((one) => one["entry_id"])).size, 1);
      await refused("ingots:credit", { ...order, amount: "51" }, /^request:idempotency_mismatch /);
      await run("ingots:gift", order);
      await run("ingots:credit", { ...order, refType: "other" });
      await run("ingots:credit", { ...order, player: await newPlayer() });
      assert.deepEqual((await wallet(player)).ingots, { balance: 150, total: 150 });
    });

    it("record who got how much and why, and record a repeat only once", async () => {
      const player = await newPlayer();
      const options = { player, amount: "9", reason: "sorry", refType: "ticket", refId: "77" };
      const { entry_id } = await run("embers:grant", options);
      await run("embers:grant", options);
      const entries = await rowsOf(
        app.deps.em,
        sql`select operator, action, reason, detail from audit_log where target = ${`player ${player}`}`,
      );
      const detail = { amount: 9, ref_type: "ticket", ref_id: "77", entry_id };
      assert.deepEqual(entries, [
        { operator: "console", action: "embers:grant", reason: "sorry", detail },
      ]);
    });
  });
  describe("validate and load definitions", () => {
    it("refuse invalid input and change nothing", async () => {
      const player = await newPlayer();
      await run("ingots:credit", { player, amount: "10" });
      const before_ = await wallet(player);
      const cases: [string, Record<string, string>, RegExp][] = [
        ["ingots:spend", { amount: "11" }, /^wallet:insufficient_funds /],
        ["ingots:admin", { amount: "-11" }, /^wallet:insufficient_funds /],
        ["embers:spend", { amount: "1" }, /^wallet:insufficient_funds /],
        ["ingots:credit", { amount: "0" }, /^validation:failed /],
        ["ingots:credit", { amount: "-5" }, /^validation:failed /],
        ["ingots:spend", { amount: "-5" }, /^validation:failed /],
        ["ingots:admin", { amount: "0" }, /^validation:failed /],
        ["ingots:credit", { amount: "1000000001" }, /^validation:failed /],
        ["ingots:credit", { amount: "1.5" }, /^validation:failed --amount/],
        ["ingots:credit", { amount: "ten" }, /^validation:failed --amount/],
        ["ingots:credit", { amount: "5", player: "x" }, /^validation:failed --player/],
        ["ingots:credit", { amount: "5", player: "0" }, /^validation:failed --player/],
        ["ingots:credit", { amount: "5", player: "2000000000" }, /^player:not_found /],
        [
          "ingots:credit",
          { amount: "5", reason: "r".repeat(256) },
          /^validation:failed .*\nreason/,
        ],
        [
          "ingots:credit",
          { amount: "5", refType: "t".repeat(65) },
          /^validation:failed .*\nrefType/,
        ],
        ["ingots:credit", { amount: "5", refId: "i".repeat(256) }, /^validation:failed .*\nrefId/],
      ];
      for (const [name, options, code] of cases) await refused(name, { player, ...options }, code);
      assert.deepEqual(await wallet(player), before_);
    });

    it("exit with status 1 and the error code on standard error", async () => {
      const player = await newPlayer();
      const args = [...builtProgram("console"), "ingots:admin", "--player", player];
      const call = promisify(execFile)(process.execPath, [...args, "--amount", "-5"], {
        env: { ...process.env, ...env() },
      });
      await assert.rejects(
        call,
        ({ code, stderr }: { code: number; stderr: string }) =>
          code === 1 && stderr.startsWith("wallet:insufficient_funds "),
      );
    });

    it("load award definitions: new ones, changed ones and those of the seed file", async () => {
      const award = {
        award_id: "id.award.welcome",
        game: "platform",
        name: "Hello",
        ember_value: 77,
      };
      const extra = {
        award_id: "id.award.x",
        game: "g",
        name: "X",
        ember_value: 1,
        is_active: false,
      };
      const loaded = await run("awards:load", file(JSON.stringify({ awards: [award, extra] })));
      assert.deepEqual(loaded, { num_loaded: 2 });
      const value = async (id: string, game: string) =>
        (await findAward(app.deps.orm.em.fork(), id, game))?.emberValue;
      assert.equal(await value("id.award.welcome", "platform"), 77);
      assert.equal(await value("id.award.x", "g"), undefined);
      assert.equal(await value("id.award.first_win", "trivia"), 50);
      assert.deepEqual(await run("awards:load", {}), { num_loaded: 5 });
      assert.equal(await value("id.award.welcome", "platform"), 10);
      for (const [content, problem] of [
        ["{", /^definitions:invalid /],
        [JSON.stringify({ awards: [award, award] }), /listed twice/],
        [JSON.stringify({ awards: [{ ...award, award_id: "welcome" }] }), /award_id/],
        [JSON.stringify({ awards: [{ ...award, ember_value: 100_001 }] }), /ember_value/],
        [JSON.stringify({ awards: [{ ...award, daily_limit: 0 }] }), /daily_limit/],
        [JSON.stringify({ awards: [{ ...award, repeatible: true }] }), /^definitions:invalid /],
      ] as const)
        await refused("awards:load", file(content), problem);
      await refused(
        "awards:load",
        { file: join(dir, "missing.json") },
        /^definitions:invalid ENOENT/,
      );
      assert.equal(await value("id.award.welcome", "platform"), 10);
    });

    it("replace all levels at once for every player", async () => {
      const player = await newPlayer();
      await run("embers:grant", { player, amount: "60" });
      const levels = [
        { name: "Low", threshold: 0 },
        { name: "High", threshold: 50 },
      ];
      await run("levels:load", file(JSON.stringify({ levels })));
      const { level, nextLevel } = (await wallet(player)).embers;
      assert.deepEqual([level, nextLevel], [{ ord: 2, name: "High", threshold: 50 }, null]);
      for (const wrong of [[], [{ name: "A", threshold: 1 }], [levels[0], levels[1], levels[1]]])
        await refused(
          "levels:load",
          file(JSON.stringify({ levels: wrong })),
          /^definitions:invalid /,
        );
      assert.deepEqual(await run("levels:load", {}), { num_loaded: 12 });
      assert.equal((await wallet(player)).embers.level.name, "Spark");
    });
  });
});
