import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Redis } from "ioredis";
import { eventStreamKey } from "../../actors/index.ts";
import { lobbyKey } from "../../actors/runtime/keys.ts";
import { startApp, type App } from "../support/app.ts";
import { createLobby, joinLobby, newPlayer, type Player } from "../support/player.ts";
import type { EventStream, Frame, LobbyMessage } from "../support/event-stream.ts";
import { openStream } from "../support/event-stream.ts";

const seqOf = (frame: Frame) => (frame.data as LobbyMessage).seq;

describe("a Redis that comes back without its last second", () => {
  let app: App;
  let redis: Redis;
  let host: Player;
  let guest: Player;
  let code: string;
  let live: EventStream;

  before(async () => {
    app = await startApp({ env: { LOBBY_MIN_QUESTION_MS: "0" } });
    redis = new Redis({ path: app.stores.redisUrl.replace("unix://", "") });
    redis.on("error", () => {});
    host = await newPlayer(app.url, "Host");
    guest = await newPlayer(app.url, "Guest");
    code = await createLobby(host, { mode: "coop", numQuestions: 2, timer: 60 });
    await joinLobby(guest, code);
    live = await guest.listen(code);
    assert.equal((await host.ask(code, "start")).status, 200);
  });
  after(async () => {
    live.close();
    redis.disconnect();
    await app.stop();
  });

  const pick = async (player: Player, selected: number) => {
    const answer = await player.ask(code, "pick", { selected_index: selected, index: 0 });
    assert.equal(answer.status, 204, JSON.stringify(answer));
  };

  /** What a machine without power does to its clients: all connections break, and the store is older. */
  async function goBack(saved: Buffer[]): Promise<void> {
    const keys = [lobbyKey(code), eventStreamKey(code)];
    const batch = redis.multi();
    keys.forEach((key, i) => batch.restore(key, 0, saved[i] ?? Buffer.alloc(0), "REPLACE"));
    batch.call("CLIENT", "KILL", "TYPE", "pubsub");
    batch.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
    await batch.exec();
  }

  it("gives every stream a gap and a snapshot, and the lobby goes on from what is left", async () => {
    await pick(host, 0);
    await pick(guest, 1);
    const saved = await Promise.all(
      [lobbyKey(code), eventStreamKey(code)].map((key) => redis.dumpBuffer(key)),
    );
    await pick(host, 2);
    await pick(guest, 3);
    const lost = await live.waitFor(
      (frame) =>
        frame.event === "lobby.pick" && (frame.data as LobbyMessage).data["selected_index"] === 3,
      "the last pick",
    );
    await goBack(saved);
    const gap = await live.waitFor((frame) => frame.event === "lobby.gap", "a gap");
    const since = live.frames.indexOf(gap);
    const snapshot = live.frames[since + 1];
    assert.equal(snapshot?.event, "lobby.snapshot", "a snapshot follows the gap");

    // The next command is played on what was left, and everybody hears of it.
    assert.equal((await host.ask(code, "lock", { index: 0 })).status, 200);
    const reveal = await live.waitFor((frame) => frame.event === "lobby.reveal", "the reveal");
    const { results } = (reveal.data as LobbyMessage).data["reveal"] as {
      results: { player_id: number; selected_index: number }[];
    };
    const selected = new Map(results.map((one) => [one.player_id, one.selected_index]));
    assert.equal(selected.get(host.seatId), 0, "the pick that was not lost");
    assert.equal(selected.get(guest.seatId), 1);
    assert.ok(seqOf(reveal) > seqOf(lost) + 1, "numbers that were seen are not used again");
    await returnWith(String(seqOf(lost)));
  });

  /** A client that comes back with a number of the time that is lost. */
  async function returnWith(lastEventId: string): Promise<void> {
    const { headers } = await fetch(`${app.url}/v1/games/trivia/lobbies/${code}/token`, {
      method: "POST",
      headers: { "x-lobby-token": host.lobbyToken },
    });
    const url = `${app.url}/v1/hub?topic=/games/trivia/lobby/${code}`;
    const stream = openStream(url, { token: headers.get("x-hub-token") ?? "", lastEventId });
    await stream.waitFor((frame) => frame.event === "lobby.snapshot", "a snapshot");
    assert.equal(stream.frames[0]?.event, "lobby.gap");
    stream.close();
  }
});
