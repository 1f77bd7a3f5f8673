import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { sql } from "kysely";
import { insertQuestions } from "../../../../db/queries/questions/questions.ts";
import type { OperatorRole } from "../../../../server/http/auth/auth.ts";
import { registerAccount } from "../../../support/identity.ts";
import { app, linkIn, open, rowsIn, run, startsRecords } from "./records-app.ts";

const path = "/operator/questions";
const evil = "<img src=x onerror=alert(1)>";

describe("the pages of questions", () => {
  startsRecords();
  let ids: number[];
  before(async () => {
    const questions = ["art", "art", "film"].map((category, n) => ({
      ...{ category, difficulty: "easy", question: `Is it ${n}? ${evil}` },
      ...{ choices: [evil, "yes", "no", "perhaps"], correctIndex: 1 },
      ...{ explanation: "Everybody knows.", estimatedRate: 50 },
      ...{ textKey: `is it ${n}`, source: "test" },
    }));
    await insertQuestions(app.deps.em, questions, { pool: "competition", promptHash: null });
    await run(sql`update questions set num_served = 100, num_correct = 1`);
    const rows = await run(sql`select id from questions order by id`);
    ids = rows.map((row) => (row as { id: number }).id);
  });
  const at = (n: number) => ids[n] ?? assert.fail();
  const buttonsOf = async (n: number, role: OperatorRole) => {
    const { text } = await open(`${path}/${at(n)}`, { role });
    return [...text.matchAll(/formaction="[^"]*\/([a-z-]+)"/g)].map(([, verb]) => verb);
  };
  const change = (n: number, verb: string) =>
    open(`${path}/${at(n)}/${verb}`, { method: "POST", body: { reason: "wrong" } });

  it("list questions by problem and category, and lead to the next page", async () => {
    const { text } = await open(`${path}?problem=too_hard&category=art&limit=1`);
    assert.equal(rowsIn(text).length, 1);
    assert.match(text, /<b>Too hard<\/b>[^]*Of art\./);
    assert.ok(!text.includes("<img"));
    const next = linkIn(text, "Next") ?? assert.fail("no link to the next page");
    const second = await open(next);
    assert.equal(rowsIn(second.text).length, 1);
    assert.equal(linkIn(second.text, "Next"), null);
    assert.equal(rowsIn((await open(`${path}?problem=too_hard`)).text).length, 3);
    assert.match((await open(`${path}?problem=retired`)).text, /None\./);
  });

  it("mark the correct choice, which viewers do not see", async () => {
    const { text } = await open(`${path}/${at(0)}`);
    assert.match(text, /<b>yes<\/b> \(correct\)/);
    assert.ok(text.includes("&#60;img") && !text.includes("<img"));
    const viewed = (await open(`${path}/${at(0)}`, { role: "viewer" })).text;
    assert.doesNotMatch(viewed, /\(correct\)|Everybody knows/);
    assert.match(viewed, /secret to players/);
  });

  it("offer the changes that apply, and those of the role only", async () => {
    assert.deepEqual(await buttonsOf(1, "viewer"), []);
    assert.deepEqual(await buttonsOf(1, "operator"), ["retire"]);
    const { status } = await change(1, "retire");
    assert.equal(status, 303);
    assert.deepEqual(await buttonsOf(1, "admin"), ["restore"]);
    await change(1, "restore");
    assert.deepEqual(await buttonsOf(1, "operator"), ["retire"]);
  });

  it("show what players reported, until the reports are dismissed", async () => {
    const { session } = await registerAccount(app);
    await run(sql`insert into question_reports (question_id, player_id, reason, comment, created_at)
      values (${at(2)}, ${session.player.id}, 'typo', ${evil}, now())`);
    const { text } = await open(`${path}/${at(2)}`);
    assert.ok(rowsIn(text).some((row) => row.join() === "typo,1"));
    assert.match(text, /What players wrote[^]*&#60;img/);
    assert.deepEqual(await buttonsOf(2, "operator"), ["retire", "dismiss-reports"]);
    await change(2, "dismiss-reports");
    assert.deepEqual(await buttonsOf(2, "operator"), ["retire"]);
  });
});
