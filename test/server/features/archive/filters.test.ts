import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { startApp, type App } from "../../../support/app.ts";
import { entity, load } from "../../../support/archive.ts";

const game = "spellings";

describe("filters of the archive", () => {
  let app: App;
  before(async () => {
    app = await startApp({ hasJobs: false });
  });
  after(() => app.stop());

  const ids = async (query: string) => {
    const answer = await app.client.get(`/v1/codex/${game}/item?${query}`);
    assert.equal(answer.status, 200, `${query}: ${answer.text.slice(0, 300)}`);
    return (answer.body as { entities: { id: string }[] }).entities.map(({ id }) => id);
  };

  it("compares texts and numbers of any length and spelling", async () => {
    const values: [id: string, value: unknown][] = [
      ["quoted", '"a\\b"\n\u2028'],
      ["truth", true],
      ["said", "true"],
      ["nothing", null],
      ["null", "null"],
      ["mark", "#1"],
      ["long", "x".repeat(400)],
      ["longer", `${"x".repeat(400)}y`],
      ["digits", `0.${"3".repeat(200)}`],
      ["digits2", `0.${"3".repeat(199)}4`],
      ["near", 9007199254740991],
      ["text", "9007199254740992"],
      ["minus", -0.5],
      ["tiny", 1e-300],
      ["list", [1]],
    ];
    await load(app, {
      game,
      entities: values.map(([id, value]) =>
        entity(`id.item.${id}`, { name: id, data: { value }, tags: [id, `${id},"x`] }),
      ),
    });
    const found = async (op: string, value: string) =>
      (await ids(`filter[data.value]${op}=${encodeURIComponent(value)}`))
        .map((id) => id.slice("id.item.".length))
        .sort();
    const cases: [op: string, value: string, expected: string[]][] = [
      ["", '"a\\b"\n\u2028', ["quoted"]],
      ["", '"true"', []],
      ["", "true", ["said", "truth"]],
      ["", "null", ["null"]],
      ["", "#1", ["mark"]],
      ["", "x".repeat(400), ["long"]],
      ["", "x".repeat(399), []],
      ["", `#${hash("sha256", "x".repeat(400))}`, []],
      [":lt", `0.${"3".repeat(199)}35`, ["digits", "minus", "tiny"]],
      [":gt", `0.${"3".repeat(200)}`, ["digits2", "near", "text"]],
      [":gt", "9007199254740991", ["text"]],
      [":lte", "9007199254740991.0", ["digits", "digits2", "minus", "near", "tiny"]],
      ["", "9007199254740991.0", ["near"]],
      ["", "10e-301", ["tiny"]],
      ["", `0.${"0".repeat(299)}1`, ["tiny"]],
      [":lt", "-0.49", ["minus"]],
      [":gt", "1e999", []],
      [":gte", "-1e999", ["digits", "digits2", "minus", "near", "text", "tiny"]],
    ];
    for (const [op, value, expected] of cases)
      assert.deepEqual(await found(op, value), expected, `${op} ${value}`);
    assert.equal((await found(":ne", "true")).length, values.length - 2);
    const tagged = `filter[tags]=${encodeURIComponent('long,"x')}`;
    assert.deepEqual(await ids(tagged), ["id.item.long"]);
  });

  it("treat only JSON numbers as numbers, and overlong digits as text", async () => {
    const texts = [
      "1e5",
      "-7.50",
      "٣",
      "+3",
      "3 ",
      "3\n",
      "1e1000",
      ".5",
      "NaN",
      "Infinity",
      "0x1",
    ];
    const [long, longer] = ["9".repeat(300), "9".repeat(301)];
    await load(app, {
      game,
      version: "1.1",
      entities: [...texts, long, longer].map((text, n) =>
        entity(`id.item.t${n}`, { data: { text, deep: [{ text }] } }),
      ),
    });
    for (const path of ["data.text", "data.deep.0.text"])
      for (const [op, value, expected] of [
        ["gte", "-1e999", ["id.item.t0", "id.item.t1", "id.item.t11"]],
        ["gt", "99999.999", ["id.item.t0", "id.item.t11"]],
        ["lte", "-7.5", ["id.item.t1"]],
        ["gte", long, ["id.item.t11"]],
        ["eq", longer, ["id.item.t12"]],
        ["eq", "%2B3", ["id.item.t3"]],
        ["eq", "100000", []],
      ] as const)
        assert.deepEqual(await ids(`filter[${path}]:${op}=${value}`), expected, `${op} ${value}`);
  });
});
