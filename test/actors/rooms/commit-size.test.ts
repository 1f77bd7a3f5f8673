import assert from "node:assert/strict";
import { test } from "node:test";
import { nextDeadline } from "../../../actors/lobby/decide-tick.ts";
import { by, host } from "../lobby/game.ts";
import { playing } from "./owned.ts";

test("a commit stores what happened, which is a fiftieth of its lobby at most", () => {
  const owned = playing({ mode: "coop", num_questions: 10 });
  owned.ask({ type: "pick", selectedIndex: 1, index: 0, by: by(2) });
  const [, events = ""] =
    owned.commits.at(-1)?.fields.find(([name]) => name.startsWith("d:")) ?? [];
  const lobby = JSON.stringify(owned.lobby);
  assert.ok(events !== "" && events.length * 50 < lobby.length, `${events.length} ${lobby.length}`);
});

test("a commit stores the deadline when it changed, or when its owner has not stored one yet", async () => {
  const owned = playing({ mode: "coop", num_questions: 10 });
  const pick = () => {
    owned.ask({ type: "pick", selectedIndex: 1, index: 0, by: by(2) });
    return owned.commits.at(-1)?.due;
  };
  assert.equal(pick(), undefined);
  await owned.takeOver();
  const due = nextDeadline(owned.lobby);
  assert.notEqual(due, null);
  assert.equal(pick(), due);
  assert.equal(pick(), undefined);
  owned.ask({ type: "lock", index: 0, by: by(host) });
  assert.equal(owned.commits.at(-1)?.due, nextDeadline(owned.lobby));
});
