import assert from "node:assert/strict";
import { test } from "node:test";
import { frameOf } from "../../../server/sse/frames.ts";
import { PublicTime } from "../../../server/sse/public-time.ts";

/** Messages numbered from 1: a lobby in public or in private, or none. */
function logOf(kinds: string) {
  const lobbies: Record<string, object> = {
    p: { visibility: "private" },
    o: { visibility: "public" },
  };
  const frames = [...kinds].map((kind, i) =>
    frameOf(i + 1, JSON.stringify({ type: "lobby.started", data: { lobby: lobbies[kind] } })),
  );
  let reads = 0;
  /** Two at a time, a turn later. */
  const read = async (from: number) => {
    reads += 1;
    await new Promise(setImmediate);
    return frames.slice(from - 1, from + 1);
  };
  return { read, reads: () => reads };
}

test("what was looked at once is not read again for those who ask for a part of it or for more", async () => {
  const time = new PublicTime();
  const { read, reads } = logOf("-o-----o--p-");
  assert.equal(await time.holds(2, 6, read), true);
  assert.equal(reads(), 2);
  for (const [after, until] of [
    [2, 6],
    [4, 5],
    [6, 6],
  ] as const)
    // prettier-ignore
    assert.equal(await time.holds(after, until, read), true);
  assert.equal(reads(), 2);
  assert.equal(await time.holds(3, 8, read), true);
  assert.equal(reads(), 3);
  assert.equal(await time.holds(3, 11, read), false);
  assert.equal(await time.holds(9, 8, read), false, "behind what the lobby said of itself");
  assert.equal(await time.holds(11, 13, read), false, "what is gone may have been private");
});

test("questions that are answered at the same time do not add up to more than each found", async () => {
  const time = new PublicTime();
  const { read } = logOf("oooooopppooo");
  assert.equal(await time.holds(0, 2, read), true);
  const both = await Promise.all([time.holds(1, 6, read), time.holds(9, 10, read)]);
  assert.deepEqual(both, [true, true]);
  assert.equal(await time.holds(2, 12, read), false);
});
