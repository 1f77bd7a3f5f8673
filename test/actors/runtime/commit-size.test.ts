import assert from "node:assert/strict";
import { test } from "node:test";
import { by } from "../lobby/game.ts";
import { playing } from "./owned.ts";

test("a commit stores what happened, which is a fiftieth of its lobby at most", () => {
  const owned = playing({ mode: "coop", num_questions: 10 });
  owned.ask({ type: "pick", selectedIndex: 1, index: 0, by: by(2) });
  const [, events = ""] =
    owned.commits.at(-1)?.fields.find(([name]) => name.startsWith("d:")) ?? [];
  const lobby = JSON.stringify(owned.lobby);
  assert.ok(events !== "" && events.length * 50 < lobby.length, `${events.length} ${lobby.length}`);
});
