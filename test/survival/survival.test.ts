import assert from "node:assert/strict";
import { test } from "node:test";
import { accept, type Heard } from "./listener.ts";
import { describeSurvival } from "./report.ts";
import { survive } from "./survive.ts";

/** The usual time is printed, not demanded: this machine may be busy with something else. */
const slowestTakeoverMs = 8_000;

function heardNothing(): Heard {
  return {
    last: 0,
    messages: new Map(),
    connections: 0,
    doubled: 0,
    missed: 0,
    gaps: 0,
    isEnded: false,
  };
}

const frame = (event: string, seq: number) => `id: ${seq}\nevent: ${event}\ndata: {}`;

test("the listener notices a message that is missing, doubled or given up", () => {
  const heard = heardNothing();
  for (const text of [frame("lobby.snapshot", 3), frame("lobby.pick", 4), ": comment"])
    accept(heard, text);
  assert.deepEqual([heard.missed, heard.doubled, heard.gaps], [0, 0, 0]);
  accept(heard, frame("lobby.pick", 6));
  assert.equal(heard.missed, 1);
  accept(heard, frame("lobby.pick", 6));
  assert.equal(heard.doubled, 1);
  accept(heard, "event: lobby.gap\ndata: {}");
  accept(heard, frame("lobby.snapshot", 9));
  assert.deepEqual([heard.missed, heard.gaps], [4, 1]);
});

test("nothing acknowledged is lost or doubled while workers die, one freezes and Redis restarts", async (t) => {
  const report = await survive({
    seconds: 15,
    lobbies: 8,
    seed: 1,
    report: (line) => t.diagnostic(line),
  });
  for (const line of describeSurvival(report)) t.diagnostic(line);
  const { findings, ...counts } = report.verdict;
  assert.deepEqual(findings, []);
  assert.deepEqual(counts, { lost: 0, doubled: 0, gaps: 0, differing: 0, surprises: 0 });
  assert.ok(report.faults.kills > 0 && report.faults.freezes > 0 && report.faults.restarts > 0);
  assert.ok(report.acknowledged > 100, `only ${report.acknowledged} commands`);
  const { announced, silent } = report.faults.takeovers;
  assert.ok(Math.max(0, ...announced, ...silent) < slowestTakeoverMs, "a lobby stayed away");
});
