import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { openStream, type EventStream } from "../support/event-stream.ts";
import { assertGapless, createLobby, joinLobby, newPlayer } from "../support/player.ts";
import { startService, temporaryDataDir } from "../support/process.ts";
import { testDatabase } from "../support/stores.ts";

test("streams survive a service restart: no event is missed, repeated or refused", async () => {
  const dataDir = temporaryDataDir();
  const database = await testDatabase();
  const env = {
    HTTP_WORKERS: "2",
    JOB_WORKERS: "0",
    RATE_LIMIT_FACTOR: "0",
    DATABASE_URL: database.url,
  };
  const first = await startService({ dataDir, env });
  const streams: EventStream[] = [];
  let service = first;
  try {
    const host = await newPlayer(first.url, "Ada");
    const code = await createLobby(host, { mode: "coop", visibility: "public" });
    const guest = await newPlayer(first.url, "Grace");
    await joinLobby(guest, code);
    for (const player of [host, guest]) streams.push(await player.listen(code));
    const list = `${first.url}/v1/hub?topic=/games/trivia/lobbies`;
    const listing = openStream(list);
    streams.push(listing);
    await listing.waitFor((frame) => frame.event === "lobbies.updated", "the list");

    assert.equal(await first.stop(), 0);
    const port = new URL(first.url).port;
    service = await startService({ dataDir, env: { ...env, PORT: port } });
    assert.equal(service.url, first.url);

    const late = await newPlayer(service.url, "Alan");
    await joinLobby(late, code);
    for (const stream of streams.slice(0, 2))
      await stream.waitFor(
        (frame) => frame.event === "lobby.player_joined" && JSON.stringify(frame.data).includes('"Alan"'), // prettier-ignore
        "who came after the restart",
      );
    while (listing.connections() < 2) await delay(20);
    for (const stream of streams) assert.deepEqual(stream.refusals, []);
    for (const [n, stream] of streams.slice(0, 2).entries()) {
      assertGapless(stream, `stream ${n}`);
      const snapshots = stream.frames.filter((frame) => frame.event === "lobby.snapshot");
      assert.equal(snapshots.length, 1, "the stream resumed without a second snapshot");
    }
  } finally {
    for (const stream of streams) stream.close();
    await service.stop();
    rmSync(dataDir, { recursive: true, force: true });
    await database.drop();
  }
});
