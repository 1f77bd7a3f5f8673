import assert from "node:assert/strict";
import { test } from "node:test";
import { lobbyRoom } from "../../support/lobby-room.ts";
import { frameOf } from "../../../server/sse/stream/frames.ts";
import { wasPublic } from "../../../server/sse/topics/public-time.ts";

/** Messages numbered from 1, with a public or private lobby, or none. Two per page, a turn later. */
function logOf(kinds: string) {
  const lobbies: Record<string, object> = {
    p: { visibility: "private" },
    o: { visibility: "public" },
  };
  const frames = [...kinds].map((kind, i) =>
    frameOf(
      i + 1,
      JSON.stringify({ type: "lobby.started", data: { lobby: lobbies[kind] } }),
      lobbyRoom.delivery,
    ),
  );
  return async (from: number) => {
    await new Promise(setImmediate);
    return frames.slice(from - 1, from + 1);
  };
}

test("a period counts as public when a message says so and none says private", async () => {
  const read = logOf("-o-----o--p-");
  for (const [after, until] of [
    [2, 6],
    [4, 5],
    [6, 6],
    [3, 8],
  ] as const)
    // prettier-ignore
    assert.equal(await wasPublic(after, until, read), true, `${after} to ${until}`);
  assert.equal(await wasPublic(3, 11, read), false);
  assert.equal(await wasPublic(9, 8, read), false, "behind what the lobby said of itself");
  assert.equal(await wasPublic(11, 13, read), false, "what is gone may have been private");
});

test("a private period inside is found, also by concurrent callers", async () => {
  const read = logOf("oooooopppooo");
  assert.equal(await wasPublic(0, 2, read), true);
  const both = await Promise.all([wasPublic(1, 6, read), wasPublic(9, 10, read)]);
  assert.deepEqual(both, [true, true]);
  assert.equal(await wasPublic(2, 12, read), false);
});
