import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { large, small, wide, type Kind } from "./kinds.ts";
import { simulate } from "./run.ts";
import type { Sabotage } from "./sabotage.ts";

/** Number of schedules within which a planted fault must be detected. */
const maxSchedules = 20_000;

const without = (fields: Record<string, string>, isGone: (name: string) => boolean) =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !isGone(name)));

/** Drops the last commit from a read, as if it had never been made. */
function forgetLast(fields: Record<string, string>): Record<string, string> {
  const version = Number.parseInt(fields["v"] ?? "0", 10);
  if (version === 0 || fields[`d:${version}`] === undefined) return fields;
  return { ...fields, [`d:${version}`]: "[]" };
}

function ignoreDeltas(fields: Record<string, string>): Record<string, string> {
  if (fields["s"] === undefined) return fields;
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, name.startsWith("d:") ? "[]" : value]),
  );
}

const planted: Record<string, Sabotage> = {
  "an answer before the commit": { answersBeforeCommit: true, store: { keepsScripts: true } },
  "a commit without a look at owner and version": {
    store: { ignoresVersion: true, ignoresOwner: true },
  },
  "a commit without a look at the owner": { store: { ignoresOwner: true } },
  "a read served by a stale owner": { freshMs: 1e9 },
  "numbers used again after a takeover": { reusesSeq: true, store: { acceptsOldIds: true } },
  "a store that hides what it may have lost": { store: { hidesHistory: true } },
  "deadlines that are not stored": { store: { forgetsDeadlines: true } },
  "deadlines lost at a takeover": { store: { claimHidesDeadlines: true } },
  "answers that are not remembered": { store: { forgetsAnswers: true } },
  "one window of answers for the whole lobby": { store: { sharedWindow: 1 } },
  "an event that is not published": { store: { dropsEvent: true } },
  "a seat too many": { seatBound: 4 },
  "a replay that stops one short": { readBack: forgetLast },
  "a snapshot without what came after": { readBack: ignoreDeltas },
  "answers lost at a takeover": {
    readBack: (fields) => without(fields, (name) => name.startsWith("k:")),
  },
  "a new id for every repeat": { freshIds: true },
  "a right answer in the question": { leaksAnswers: true },
  "a slice of shards that is not waited for": { seesShardsTaken: true },
  "a shard claimed from a live owner": { store: { findsNobodyAlive: true } },
  "a worker that does not learn that it counted as dead": { store: { forgivesDeath: true } },
  "an unanswered commit that is not looked for": { store: { countsAsIntact: true } },
  "a finished lobby that stays in the list": { store: { keepsEntries: true } },
  "streams that follow a former owner": { keepsSource: true },
  "a message withheld from the streams of the owner": { withholdsQuestions: true },
};

/** Kinds in which these faults show quickly; the others show in small schedules. */
const places: Record<string, Kind> = {
  "deadlines that are not stored": large,
  "deadlines lost at a takeover": large,
  "a slice of shards that is not waited for": wide,
};

describe("the simulation notices", () => {
  for (const [fault, sabotage] of Object.entries(planted))
    it(fault, async (t) => {
      const kind = places[fault] ?? small;
      const { failure, schedules } = await simulate({
        first: 1,
        count: maxSchedules,
        kind,
        sabotage,
      });
      assert.ok(failure, "the fault was not detected");
      t.diagnostic(`after ${schedules} schedules: ${failure.violation.message.slice(0, 120)}`);
    });
});
