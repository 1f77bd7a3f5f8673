import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import { Redis } from "ioredis";
import { shardOf } from "../../actors/log/keys.ts";
import { startApp, type App } from "../support/app.ts";
import { createLobby, joinLobby, newPlayer, type Player } from "../support/player.ts";
import type { EventStream, Frame, LobbyMessage } from "../support/event-stream.ts";
import { openStream } from "../support/event-stream.ts";
import { eventStreamKey, historyKey, lobbyKey, ownerKey } from "../support/lobby-keys.ts";

const isPickOf =
  (selected: number, seatId?: number) =>
  ({ event, data }: Frame): boolean => {
    if (event !== "lobby.pick") return false;
    const pick = (data as LobbyMessage).data;
    return (
      pick["selected_index"] === selected && (seatId === undefined || pick["player_id"] === seatId)
    );
  };
const seqOf = (frame: Frame) => (frame.data as LobbyMessage).seq;

describe("a Redis that restarts without its last second of data", () => {
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
  });
  beforeEach(async () => {
    host = await newPlayer(app.url, "Host");
    guest = await newPlayer(app.url, "Guest");
    code = await createLobby(host, { mode: "coop", numQuestions: 2, timer: 60 });
    await joinLobby(guest, code);
    live = await guest.listen(code);
    assert.equal((await host.ask(code, "start")).status, 200);
  });
  afterEach(() => live.close());
  after(async () => {
    redis.disconnect();
    await app.stop();
  });

  const pick = async (player: Player, selected: number) => {
    const answer = await player.ask(code, "pick", { selected_index: selected, index: 0 });
    assert.equal(answer.status, 204, JSON.stringify(answer));
  };

  const save = () =>
    Promise.all([lobbyKey(code), eventStreamKey(code)].map((key) => redis.dumpBuffer(key)));

  /**
   * Effect of a power failure on clients: all connections break, and the store is older. `isForgotten`: no
   * process that knows the lost state survives.
   */
  async function goBack(saved: Buffer[], isForgotten = false): Promise<void> {
    const keys = [lobbyKey(code), eventStreamKey(code)];
    const batch = redis.multi();
    if (isForgotten) batch.set(ownerKey(shardOf(code)), "").set(historyKey(shardOf(code)), "old 0");
    keys.forEach((key, i) => batch.restore(key, 0, saved[i] ?? Buffer.alloc(0), "REPLACE"));
    batch.call("CLIENT", "KILL", "TYPE", "pubsub");
    batch.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
    await batch.exec();
  }

  it("causes a gap and a snapshot on every stream, and the lobby continues from the remaining data", async () => {
    await pick(host, 0);
    await pick(guest, 1);
    const saved = await save();
    await pick(host, 2);
    await pick(guest, 3);
    const lost = await live.waitFor(isPickOf(3), "the last pick");
    await goBack(saved);
    const gap = await live.waitFor((frame) => frame.event === "lobby.gap", "a gap");
    const since = live.frames.indexOf(gap);
    const snapshot = live.frames[since + 1];
    assert.equal(snapshot?.event, "lobby.snapshot", "a snapshot follows the gap");

    // The next command is applied to the remaining state, and every client is informed.
    assert.equal((await host.ask(code, "lock", { index: 0 })).status, 200);
    const reveal = await live.waitFor((frame) => frame.event === "lobby.reveal", "the reveal");
    const { results } = (reveal.data as LobbyMessage).data["reveal"] as {
      results: { player_id: number; selected_index: number }[];
    };
    const selected = new Map(results.map((one) => [one.player_id, one.selected_index]));
    assert.equal(selected.get(host.seatId), 0, "the pick that was not lost");
    assert.equal(selected.get(guest.seatId), 1);
    assert.ok(seqOf(reveal) > seqOf(lost) + 1, "received numbers are not reused");
    await returnWith(String(seqOf(lost)));
  });

  it("also causes them when no process is left that knows the published events", async () => {
    await pick(host, 0);
    const kept = await live.waitFor(isPickOf(0), "a pick that is kept");
    const saved = await save();
    await pick(guest, 1);
    await pick(host, 3);
    const lost = await live.waitFor(isPickOf(3), "the last pick");
    await goBack(saved, true);
    // The new owner detects it; the pick itself may already be in the snapshot.
    await pick(guest, 2);
    const gap = await live.waitFor(({ event }) => event === "lobby.gap", "a gap");
    assert.equal(live.frames[live.frames.indexOf(lost) + 1], gap);
    await live.waitFor(
      (frame) => frame.event === "lobby.snapshot" && seqOf(frame) > seqOf(lost),
      "a snapshot after the gap",
    );
    await pick(guest, 0);
    const again = await live.waitFor(isPickOf(0, guest.seatId), "a pick after the loss");
    assert.ok(seqOf(again) > seqOf(lost) + 1, "received numbers are not reused");
    for (const frame of [lost, kept]) await returnWith(String(seqOf(frame)));

    // From then on it is recorded, so a new owner continues without a gap.
    await redis.set(ownerKey(shardOf(code)), "");
    await pick(host, 1);
    const last = await live.waitFor(isPickOf(1, host.seatId), "a pick after the next takeover");
    assert.equal(seqOf(last), seqOf(again) + 1);
  });

  /** A client that reconnects with a number from the lost period. */
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
