import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { startApp, type App } from "../../../support/app.ts";
import {
  openStream,
  StreamRefused,
  type EventStream,
  type Frame,
  type LobbyMessage,
} from "../../../support/event-stream.ts";
import { ask, openTable, sit, type Seated, type Wire } from "./seats.ts";

let app: App;

type As = Record<string, string> | undefined;

const post = (code: string, action: string, as: As, body?: unknown) =>
  ask(app, "POST", `/${code}/${action}`, body, as);

const topicOf = (code: string) => `/games/trivia/lobby/${code}`;
const addressOf = (code: string) => `${app.url}/v1/hub?topic=${topicOf(code)}`;
const messageOf = (frame: Frame | undefined) => frame?.data as LobbyMessage;
const lobbyIn = (message: LobbyMessage) => message.data["lobby"] as Wire;

async function hubTokenOf(code: string, seat: Seated): Promise<string> {
  const answer = await post(code, "token", seat.as);
  assert.equal(answer.status, 204);
  return answer.headers.get("x-hub-token") ?? "";
}

/** Like a browser: with the cookie that POST token set. */
async function listen(code: string, seat: Seated): Promise<EventStream> {
  const answer = await post(code, "token", seat.as);
  const [cookie = ""] = answer.headers.getSetCookie()[0]?.split(";") ?? [];
  const stream = openStream(addressOf(code), { headers: { cookie }, reconnect: false });
  await stream.waitFor((frame) => frame.event === "lobby.snapshot", "snapshot");
  return stream;
}

const sees = (stream: EventStream, event: string) =>
  stream.waitFor((frame) => frame.event === event, event);

/** Event names after the snapshot; fails if a number is missing, repeated or contradictory. */
function namesOf(stream: EventStream, code: string): string[] {
  const [first, ...rest] = stream.frames;
  assert.equal(first?.event, "lobby.snapshot");
  let seq = messageOf(first).seq;
  assert.equal(lobbyIn(messageOf(first)).seq, seq);
  for (const frame of rest) {
    const message = messageOf(frame);
    assert.equal(message.seq, ++seq, `${frame.event} out of order`);
    assert.equal(frame.id, String(seq));
    assert.equal(message.type, frame.event);
    assert.equal(message.topic, topicOf(code));
    const lobby = message.data["lobby"] as Wire | undefined;
    if (lobby) assert.equal(lobby.seq, seq, `${frame.event} carries another state`);
  }
  return rest.map((frame) => frame.event);
}

const dataOf = (stream: EventStream, event: string) =>
  messageOf(stream.frames.find((frame) => frame.event === event)).data;

describe("the events of a lobby", { concurrency: true }, () => {
  before(async () => {
    app = await startApp({ hubLimits: { endedGraceMs: 500, listIntervalMs: 50 } });
  });
  after(() => app.stop());

  describe("arrive in order", () => {
    it("of a versus game arrive in order, without a gap, with all promised fields", async () => {
      const fields = { mode: "versus", numQuestions: 1, category: "science" };
      const { code, host } = await openTable(app, fields);
      const stream = await listen(code, host);
      const guest = await sit(app, code, "Guest");
      const leaver = await sit(app, code, "Leaver");
      await post(code, "leave", leaver.as);
      await ask(app, "PATCH", `/${code}/settings`, { timer: 60 }, host.as);
      await post(code, "start", host.as);
      await post(code, "answer", guest.as, { selected_index: 2, time_taken_ms: 10 });
      await post(code, "answer", host.as, { selected_index: 1, time_taken_ms: 10 });
      await post(code, "next", host.as);
      await sees(stream, "lobby.ended");
      assert.deepEqual(namesOf(stream, code), [
        "lobby.player_joined",
        "lobby.player_joined",
        "lobby.player_removed",
        "lobby.settings",
        "lobby.started",
        "lobby.answer",
        "lobby.answer",
        "lobby.reveal",
        "lobby.ended",
      ]);
      const joined = dataOf(stream, "lobby.player_joined");
      assert.equal((joined["player"] as { id: number }).id, guest.id);
      const removed = dataOf(stream, "lobby.player_removed");
      assert.deepEqual([removed["player_id"], removed["reason"]], [leaver.id, "left"]);
      assert.deepEqual(dataOf(stream, "lobby.settings")["changes"], { timer: 60 });
      assert.deepEqual(dataOf(stream, "lobby.answer"), {
        player_id: guest.id,
        answered_player_ids: [guest.id],
      });
      const open = stream.frames.slice(0, 8).map((frame) => JSON.stringify(frame.data));
      assert.ok(open.every((text) => !/correct_index|explanation|selected_index/.test(text)));
      const reveal = dataOf(stream, "lobby.reveal");
      assert.equal((reveal["reveal"] as { closed_by: string }).closed_by, "all_answered");
      assert.deepEqual((reveal["lobby"] as Wire).reveal, reveal["reveal"]);
      assert.equal(dataOf(stream, "lobby.ended")["reason"], "completed");
      stream.close();
    });

    it("of a co-op game arrive in order, without a gap, the same for every player", async () => {
      const { code, host, guests } = await openTable(app, { numQuestions: 2, category: "art" }, 2);
      const streams = await Promise.all([host, ...guests].map((seat) => listen(code, seat)));
      await post(code, "start", host.as);
      const [one, two] = guests;
      for (const seat of [one, two, host])
        await post(code, "pick", seat?.as, { selected_index: 3 });
      await post(code, "lock", host.as);
      await post(code, "next", host.as);
      await post(code, "end", host.as);
      await Promise.all(streams.map((stream) => sees(stream, "lobby.ended")));
      for (const stream of streams) {
        assert.deepEqual(namesOf(stream, code), [
          "lobby.started",
          "lobby.pick",
          "lobby.pick",
          "lobby.pick",
          "lobby.reveal",
          "lobby.question",
          "lobby.ended",
        ]);
        assert.deepEqual(stream.frames.slice(1), streams[0]?.frames.slice(1));
        assert.deepEqual(dataOf(stream, "lobby.pick"), { player_id: one?.id, selected_index: 3 });
        assert.equal((dataOf(stream, "lobby.question")["lobby"] as Wire).current_index, 1);
        assert.equal(dataOf(stream, "lobby.ended")["reason"], "host_ended");
        stream.close();
      }
    });

    it("missed while disconnected are sent on reconnection, and nothing is sent twice", async () => {
      const { code, host } = await openTable(app, { maxPlayers: 16 });
      const first = await listen(code, host);
      await sit(app, code, "One");
      await sees(first, "lobby.player_joined");
      first.close();
      await sit(app, code, "Two");
      await sit(app, code, "Three");
      const token = await hubTokenOf(code, host);
      const options = { token, lastEventId: first.lastEventId ?? "", reconnect: false };
      const second = openStream(addressOf(code), options);
      await second.waitFor((frame) => frame.id === "3", "the third joiner");
      assert.deepEqual(
        second.frames.map((frame) => [frame.event, frame.id]),
        [
          ["lobby.player_joined", "2"],
          ["lobby.player_joined", "3"],
        ],
      );
      second.close();
    });
  });
  describe("end, and reach only permitted clients", () => {
    it("end for a removed player, whose token is refused afterwards", async () => {
      const { code, host, guests } = await openTable(app, {}, 2);
      const [kicked, stays] = guests;
      assert.ok(kicked && stays);
      const stream = await listen(code, kicked);
      const other = await listen(code, stays);
      const token = await hubTokenOf(code, kicked);
      const path = `/${code}/players/${kicked.id}`;
      assert.equal((await ask(app, "DELETE", path, undefined, host.as)).status, 204);
      await stream.ended;
      const last = messageOf(stream.frames.at(-1));
      assert.deepEqual([last.type, last.data["reason"]], ["lobby.player_removed", "kicked"]);
      const again = openStream(addressOf(code), { token, reconnect: false });
      const refusal: unknown = await again.ended.catch((error: unknown) => error);
      assert.ok(refusal instanceof StreamRefused && refusal.status === 403, String(refusal));
      assert.equal(
        (await ask(app, "PATCH", `/${code}/settings`, { timer: 10 }, host.as)).status,
        204,
      );
      await sees(other, "lobby.settings");
      other.close();
    });

    it("end some time after the end of the lobby", async () => {
      const { code, host } = await openTable(app);
      const stream = await listen(code, host);
      await post(code, "leave", host.as);
      await stream.ended;
      const last = messageOf(stream.frames.at(-1));
      assert.deepEqual([last.type, last.data["reason"]], ["lobby.ended", "host_left"]);
      assert.equal(lobbyIn(last).status, "finished");
    });

    it("are refused to the token of another lobby", async () => {
      const one = await openTable(app);
      const other = await openTable(app);
      const token = await hubTokenOf(other.code, other.host);
      const stream = openStream(addressOf(one.code), { token, reconnect: false });
      const refusal: unknown = await stream.ended.catch((error: unknown) => error);
      assert.ok(refusal instanceof StreamRefused && refusal.status === 403);
    });

    it("of the public list arrive on connection and when a lobby is opened, fills, starts or ends", async () => {
      const url = `${app.url}/v1/hub?topic=/games/trivia/lobbies`;
      const stream = openStream(url, { reconnect: false });
      const shows = (what: string, matches: (lobbies: Wire[]) => boolean) =>
        stream.waitFor(
          (frame) => matches((frame.data as { data: { lobbies: Wire[] } }).data.lobbies),
          what,
        );
      await shows("first list", () => true);
      const { code, host } = await openTable(app, { numQuestions: 1, category: "music" });
      const hidden = await openTable(app, { visibility: "private" });
      const has = (lobbies: Wire[]) => lobbies.find((lobby) => lobby.code === code);
      await shows("new lobby", (lobbies) => has(lobbies)?.status === "waiting");
      await sit(app, code, "Guest");
      await shows("joiner", (lobbies) => has(lobbies)?.players.length === 2);
      await post(code, "start", host.as);
      await shows("start", (lobbies) => has(lobbies)?.status === "in_progress");
      const from = stream.frames.length;
      await post(code, "end", host.as);
      await stream.waitFor(
        (frame) => stream.frames.indexOf(frame) >= from && !JSON.stringify(frame).includes(code),
        "end",
      );
      assert.ok(stream.frames.every((frame) => frame.event === "lobbies.updated" && !frame.id));
      assert.ok(!JSON.stringify(stream.frames).includes(hidden.code));
      stream.close();
    });
  });
});
