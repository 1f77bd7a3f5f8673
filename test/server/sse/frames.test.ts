import assert from "node:assert/strict";
import { test } from "node:test";
import { lobbyRoom } from "../../support/lobby-room.ts";
import {
  encodeFrame,
  frameOf as frameWith,
  joinFrames,
} from "../../../server/sse/stream/frames.ts";
import { ReplayBuffer } from "../../../server/sse/topics/replay-buffer.ts";
import { parseTopic } from "../../../server/sse/topics/topics.ts";

const frameOf = (seq: number, payload: string) => frameWith(seq, payload, lobbyRoom.delivery);
const topicNames = { rooms: ["lobby"], lists: ["lobbies"] };

const frame = (seq: number, length = 10, type = "lobby.pick") =>
  frameOf(
    seq,
    JSON.stringify({ type, at_ms: 5, data: { player_id: 3, text: "x".repeat(length) } }),
  );

test("line breaks in data become data lines of the same frame", () => {
  const text = encodeFrame("lobby.pick", "a\r\nid: 1\rb\n\nc", 4).toString();
  assert.equal(
    text,
    "id: 4\nevent: lobby.pick\ndata: a\ndata: id: 1\ndata: b\ndata: \ndata: c\n\n",
  );
});

test("characters that some languages treat as line breaks are escaped in the JSON", () => {
  const data = { "\u2028": "a\u0085b\u2029c", list: ["\u000b\u000c\u001c\u001d\u001e", "é樱😀"] };
  const text = encodeFrame("lobby.pick", JSON.stringify(data), 4).toString();
  assert.doesNotMatch(text, /[\u0085\u2028\u2029]/);
  assert.match(text, /^id: 4\nevent: lobby\.pick\ndata: [^\p{Cc}]+\n\n$/u);
  const [, json = ""] = /^data: (.*)$/m.exec(text) ?? [];
  assert.deepEqual(JSON.parse(json), data);
});

test("the hub parses only the beginning of a message", () => {
  const removal = frameOf(
    9,
    '{"type":"lobby.player_removed","topic":"t","seq":9,"at_ms":77,"data":{"player_id":5}}',
  );
  assert.deepEqual([removal.removedSeat, removal.atMs, removal.isEnd], [5, 77, false]);
  const forged = frameOf(
    9,
    '{"type":"lobby.settings","data":{"type":"lobby.player_removed","player_id":5}}',
  );
  assert.equal(forged.removedSeat, null);
  assert.ok(frameOf(1, '{"type":"lobby.ended"}').isEnd);
  assert.match(frameOf(1, "garbage\n").bytes.toString(), /^id: 1\nevent: message\ndata: garbage\n/);
});

test("the visibility of a lobby is read from its lobby object, and the opening of a lobby from the change", () => {
  const of = (type: string, data: unknown) => {
    const { isPublic, isPrivate, opens } = frameOf(1, JSON.stringify({ type, at_ms: 5, data }));
    return [isPublic, isPrivate, opens];
  };
  const prompt = '"visibility":"private","lobby":{';
  const open = { visibility: "public", players: [] };
  assert.deepEqual(of("lobby.started", { lobby: { prompt, ...open } }), [true, false, false]);
  assert.deepEqual(of("lobby.answer", { player_id: 1 }), [false, false, false]);
  const joined = { player: { name: prompt }, lobby: { visibility: "private" } };
  assert.deepEqual(of("lobby.player_joined", joined), [false, true, false]);
  const opening = { changes: { prompt, visibility: "public" }, lobby: open };
  assert.deepEqual(of("lobby.settings", opening), [true, false, true]);
  const other = { changes: { prompt }, lobby: { prompt, ...open } };
  assert.deepEqual(of("lobby.settings", other), [true, false, false]);
});

test("frames are joined up to the write size, and never past a removal", () => {
  const frames = [
    frame(1),
    frame(2),
    frame(3, 10, "lobby.player_removed"),
    frame(4),
    frame(5, 900),
    frame(6),
  ];
  const size = (frames[0]?.bytes.length ?? 0) * 2;
  assert.equal(joinFrames(frames, 0, size)?.lastSeq, 2);
  assert.equal(joinFrames(frames, 0, 100_000)?.lastSeq, 3);
  assert.equal(joinFrames(frames, 4, 50)?.lastSeq, 5, "a larger frame goes alone");
  assert.equal(joinFrames(frames, 6, 50), null);
});

test("a replay buffer keeps its limits on count, on bytes and on the bytes of all buffers", () => {
  const budget = { used: 0, limit: 1_000_000 };
  const buffer = new ReplayBuffer(frame(10), 4, 2_000, budget);
  assert.ok(buffer.contains(10) && !buffer.contains(9));
  for (let seq = 11; seq <= 20; seq++) buffer.push(frame(seq));
  assert.ok(buffer.contains(16) && !buffer.contains(15));
  assert.equal(buffer.after(18).frames[buffer.after(18).start]?.seq, 19);
  for (let seq = 21; seq <= 24; seq++) buffer.push(frame(seq, 900));
  assert.ok(buffer.contains(23) && !buffer.contains(21));
  const other = new ReplayBuffer(null, 4, 2_000, { used: 0, limit: 0 });
  for (let seq = 1; seq <= 4; seq++) other.push(frame(seq));
  assert.ok(other.contains(3) && !other.contains(2), "the newest is kept whatever the budget");
  buffer.reset(frame(30));
  assert.equal(budget.used, 0);
  assert.ok(buffer.contains(30) && !buffer.contains(29));
});

test("only the two forms of a topic are accepted, and codes in any case", () => {
  const base = "/games/trivia";
  const parse = (text: string) => parseTopic(text, base, topicNames);
  const list = { kind: "list", name: `${base}/lobbies`, list: "lobbies" };
  assert.deepEqual(parse(list.name), list);
  const expected = { kind: "lobby", name: `${base}/lobby/ABC234`, code: "ABC234" };
  assert.deepEqual(parse(`${base}/lobby/abc234`), expected);
  const others = [
    "",
    "*",
    base,
    `${base}/lobby/`,
    `${base}/lobby/ABC23`,
    `${base}/lobby/ABC2345`,
    `${base}/lobby/ABC10O`,
    `${base}/lobby/{code}`,
    `${base}/lobby/ABC234/`,
    `/x${base}/lobby/ABC234`,
    `${base}/lobby/ABC234\n`,
    `${base}/lobbies/`,
    `${base}/lobby/ſBC234`,
  ];
  for (const text of others) assert.equal(parse(text), null, text);
});
