import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { awaitGone, countHeld } from "../../bench/load/leftovers.ts";
import { Emberline } from "../../server/web/client/emberline.ts";
import { eventually } from "../support/eventually.ts";
import { sharedService } from "../support/process.ts";

describe("what an instance holds for its players", () => {
  it("is more with a lobby that somebody watches, and its streams are gone when they leave", async () => {
    const service = await sharedService();
    const before = await countHeld(service);
    const client = new Emberline({ url: service.url });
    await client.guest();
    const seat = await client.create({ hostName: "Ada", mode: "coop", visibility: "private" });
    const leaving = new AbortController();
    const watching = (async () => {
      for await (const _ of seat.events({ signal: leaving.signal }));
    })();
    await eventually("a stream is counted", async () => {
      const { streams = 0, rooms = 0, "lasting Redis keys": keys = 0 } = await countHeld(service);
      return (
        streams === (before["streams"] ?? 0) + 1 &&
        rooms > (before["rooms"] ?? 0) &&
        keys > (before["lasting Redis keys"] ?? 0)
      );
    });
    leaving.abort();
    await watching;
    const [left] = await awaitGone(service, { streams: before["streams"] ?? 0 });
    assert.equal(left?.after, before["streams"]);
    assert.notEqual(left?.backAfter, null);
    await seat.leave();
  });
});
