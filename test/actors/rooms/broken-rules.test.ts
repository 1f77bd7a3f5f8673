import assert from "node:assert/strict";
import { it } from "node:test";
import type { LobbyCommand } from "../../../actors/index.ts";
import { by } from "../../faults/openings.ts";
import { host, LobbyFleet, setPrompt } from "./lobby-fleet.ts";

it("a command that breaks an invariant fails alone, and every command of its batch is answered once", async () => {
  const fleet = new LobbyFleet();
  const members = [await fleet.member("w1"), await fleet.member("w2")];
  await fleet.run(3_000);
  const [owner, other] = fleet.ownerFirst(members);
  assert.ok(owner && other);
  await fleet.open(owner);
  const prompts = () => fleet.messages().flatMap(({ data }) => data["changes"] ?? []);

  // The first commit is slow, so that the other commands queue and are decided together.
  owner.wiring.stall("commits", 20);
  const first = owner.lobbies.ask("AAAAAA", setPrompt("first"), "1");
  const forwarded = other.lobbies.ask("AAAAAA", setPrompt("forwarded"), "2");
  const broken = other.lobbies.ask(
    "AAAAAA",
    { type: "settings", ...by(host) } as LobbyCommand,
    "3",
  );
  await fleet.run(5);
  const local = owner.lobbies.ask("AAAAAA", setPrompt("local"), "4");
  await fleet.run(40);

  const replies = await Promise.all([first, forwarded, broken, local]);
  assert.deepEqual(
    replies.map((reply) => (reply.ok ? "ok" : reply.code)),
    ["ok", "ok", "server:error", "ok"],
  );
  const expected = ["first", "forwarded", "local"].map((prompt) => ({ prompt }));
  assert.deepEqual(prompts(), expected);
  await fleet.run(2_000);
  assert.deepEqual(prompts(), expected, "nothing is carried out later");
});
