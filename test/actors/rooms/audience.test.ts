import assert from "node:assert/strict";
import { test } from "node:test";
import {
  audienceDue,
  newAudience,
  sumOf,
  withAudience,
  type Audience,
} from "../../../actors/lobby/audience.ts";
import type { Lobby } from "../../../actors/lobby/types.ts";
import { playing } from "../lobby/game.ts";

const start = 1_000_000;
const report = (audience: Audience, worker: string, count: number, now: number) =>
  withAudience(audience, { type: "spectators", worker, count }, now);
const lobbyWith = (change: Partial<Lobby>): Lobby => ({ ...playing().state, ...change });

test("the latest counts of all processes are added up", () => {
  const audience = newAudience(null, start);
  assert.deepEqual(report(audience, "a", 3, start), {
    ...{ type: "spectators", worker: "a", count: 3, sum: 3 },
  });
  report(audience, "b", 2, start);
  report(audience, "a", 1, start);
  assert.equal(sumOf(audience, start), 3);
  report(audience, "b", 0, start);
  assert.equal(sumOf(audience, start), 1);
  assert.deepEqual(withAudience(audience, { type: "tick" }, start), {
    ...{ type: "tick", spectators: 1 },
  });
});

test("a process that is silent for a minute is dropped, and a deadline triggers that", () => {
  const audience = newAudience(null, start);
  report(audience, "a", 3, start);
  report(audience, "b", 2, start + 30_000);
  const lobby = lobbyWith({ spectatorCount: 5, spectatorsToldAt: start });
  assert.equal(audienceDue(audience, lobby, start + 30_000), start + 60_000);
  assert.equal(sumOf(audience, start + 59_999), 5);
  assert.equal(sumOf(audience, start + 60_000), 2);
  assert.equal(sumOf(audience, start - 3_600_000), 0, "a clock set back keeps nobody for an hour");
});

test("a new owner keeps the published number until all processes have reported again", () => {
  const audience = newAudience(lobbyWith({ spectatorCount: 5 }), start);
  report(audience, "a", 3, start + 1_000);
  assert.equal(sumOf(audience, start + 1_000), 5);
  report(audience, "b", 4, start + 2_000);
  assert.equal(sumOf(audience, start + 2_000), 7, "more are believed at once");
  report(audience, "b", 0, start + 3_000);
  assert.equal(sumOf(audience, start + 30_000), 3);
});

test("a changed number is due two seconds after the last one, and never in a finished lobby", () => {
  const audience = newAudience(null, start);
  report(audience, "a", 1, start);
  const published = { spectatorCount: 0, spectatorsToldAt: start - 500 };
  assert.equal(audienceDue(audience, lobbyWith(published), start), start + 1_500);
  assert.equal(audienceDue(audience, lobbyWith({ spectatorCount: 0 }), start), start);
  assert.equal(audienceDue(audience, lobbyWith({ ...published, status: "finished" }), start), null);
  assert.equal(audienceDue(newAudience(null, start), lobbyWith({}), start), null);
});

test("at most 256 processes are tracked", () => {
  const audience = newAudience(null, start);
  for (let n = 0; n < 300; n++) report(audience, `w${n}`, 1, start);
  assert.equal(sumOf(audience, start), 256);
  report(audience, "w0", 5, start);
  assert.equal(sumOf(audience, start), 260, "a known worker is still counted");
});
