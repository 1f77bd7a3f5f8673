import assert from "node:assert/strict";
import { after, before, test, describe } from "node:test";
import { splitLastEventId } from "../../../server/sse/stream/subscriber.ts";
import { openStream, type EventStream, type Frame } from "../../support/event-stream.ts";
import { startHubServer, startTestRedis, type HubServer, type TestRedis } from "./hub-server.ts";
import { createLobbyLog, type LobbyLog } from "./lobby-log.ts";
import { publicListChannel } from "../../support/lobby-keys.ts";

const list = "/games/trivia/lobbies";
let redis: TestRedis;
let log: LobbyLog;
let hubs: [HubServer, HubServer];
let numLobbies = 0;
const streams = new Set<EventStream>();

interface Options {
  last?: string;
  seat?: number;
  hub?: 0 | 1;
}

function follow(topics: string[], { last, seat, hub = 0 }: Options = {}): EventStream {
  const [first = "", ...further] = topics;
  const query = {
    ...(last === undefined ? {} : { last }),
    ...(seat === undefined ? {} : { seat }),
  };
  const also = further.map((topic) => `&also=${encodeURIComponent(topic)}`).join("");
  const stream = openStream(hubs[hub].url(first, query) + also, { reconnect: false });
  streams.add(stream);
  return stream;
}

const topicOf = (frame: Frame) => (frame.data as { topic: string }).topic;

const of = (stream: EventStream, topic: string) =>
  stream.frames.filter((frame) => topicOf(frame) === topic);

const names = (frames: Frame[]) => frames.map((frame) => frame.event);
const ids = (frames: Frame[]) => frames.map((frame) => frame.id);
const pick: [string, unknown] = ["lobby.pick", {}];

const count = (stream: EventStream, topic: string, event: string, n: number) =>
  stream.waitFor(
    () => of(stream, topic).filter((frame) => frame.event === event).length >= n,
    `${n} ${event} of ${topic}`,
  );

const ended: [string, unknown] = ["lobby.ended", { reason: "completed" }];

/** Well beyond the grace time of a stream after the end of its lobby. */
const longer = () => new Promise((resolve) => setTimeout(resolve, 500));

describe("several topics on a stream", () => {
  before(async () => {
    redis = await startTestRedis();
    log = createLobbyLog(redis.url);
    const publicList = async () => JSON.stringify([{ n: numLobbies }]);
    const limits = { tickMs: 20, listIntervalMs: 50, endedGraceMs: 100 };
    const options = { redisUrl: redis.url, snapshotOf: log.snapshotOf, publicList, limits };
    hubs = [startHubServer(options), startHubServer(options)];
  });
  after(async () => {
    for (const stream of streams) stream.close();
    await Promise.all(hubs.map((hub) => hub.stop()));
    log.close();
    await redis.stop();
  });

  describe("share the stream", () => {
    test("a lobby and the lobby list share a stream, and its ids are those of the lobby", async () => {
      const lobby = log.topic("BTHAAA");
      for (const topics of [
        [lobby, list],
        [list, lobby],
      ]) {
        const stream = follow(topics);
        await Promise.all([
          count(stream, lobby, "lobby.snapshot", 1),
          count(stream, list, "lobbies.updated", 1),
        ]);
        const before = of(stream, list).length;
        const seq = await log.publish("BTHAAA", pick);
        numLobbies += 1;
        await log.redis.publish(publicListChannel, "");
        await Promise.all([
          stream.waitFor((frame) => frame.id === String(seq), "the pick"),
          count(stream, list, "lobbies.updated", before + 1),
        ]);
        assert.deepEqual(new Set(ids(of(stream, list))), new Set([null]));
        stream.close();
        const resumed = follow(topics, { last: String(seq - 1) });
        await resumed.waitFor((frame) => frame.id === String(seq), "what was missed");
        assert.deepEqual(names(of(resumed, lobby)), ["lobby.pick"]);
        resumed.close();
      }
    });

    test("two lobbies share a stream and each resumes at its own number in another process", async () => {
      const [a, b] = [log.topic("TWAAAA"), log.topic("TWBBBB")];
      const stream = follow([a, b]);
      await Promise.all([
        count(stream, a, "lobby.snapshot", 1),
        count(stream, b, "lobby.snapshot", 1),
      ]);
      const last = stream.lastEventId;
      assert.match(last ?? "", /^0\.0$/);
      await log.publish("TWAAAA", pick, pick, pick);
      await count(stream, a, "lobby.pick", 3);
      await log.publish("TWBBBB", pick);
      await count(stream, b, "lobby.pick", 1);
      assert.deepEqual(ids(of(stream, a)).slice(1), ["1.0", "2.0", "3.0"]);
      assert.deepEqual(ids(of(stream, b)).slice(1), ["3.1"]);
      stream.close();
      await log.publish("TWAAAA", pick);
      await log.publish("TWBBBB", pick, pick);
      const resumed = follow([a, b], { last: "2.1", hub: 1 });
      await Promise.all([count(resumed, a, "lobby.pick", 2), count(resumed, b, "lobby.pick", 2)]);
      assert.equal(resumed.lastEventId, "4.3");
      const seqs = (topic: string) =>
        of(resumed, topic).map(({ data }) => (data as { seq: number }).seq);
      assert.deepEqual([seqs(a), seqs(b)], [[3, 4], [2, 3]]); // prettier-ignore
    });

    test("a composed id that fits only some topics gives the others a gap", async () => {
      const [a, b] = [log.topic("MSAAAA"), log.topic("MSBBBB")];
      await log.publish("MSAAAA", pick, pick);
      await log.publish("MSBBBB", pick);
      const both = ["lobby.gap", "lobby.snapshot"];
      const expected: [last: string, a: string[], b: string[]][] = [
        ["2", both, both],
        ["2.1.1", both, both],
        [".", both, both],
        ["2.x", [], both],
        ["1.99", ["lobby.pick"], both],
        ["-.0", ["lobby.snapshot"], ["lobby.pick"]],
      ];
      for (const [last, ofA, ofB] of expected) {
        const stream = follow([a, b], { last });
        if (ofA.length > 0) await count(stream, a, ofA.at(-1) ?? "", 1);
        await count(stream, b, ofB.at(-1) ?? "", 1);
        assert.deepEqual([names(of(stream, a)), names(of(stream, b))], [ofA, ofB], last);
        assert.equal(stream.lastEventId, "2.1", last);
        stream.close();
      }
    });
  });
  describe("end the stream or leave it", () => {
    test("a removal from one lobby ends the whole stream", async () => {
      const [a, b] = [log.topic("RMAAAA"), log.topic("RMBBBB")];
      const removed = follow([a, b], { seat: 71 });
      await Promise.all([
        count(removed, a, "lobby.snapshot", 1),
        count(removed, b, "lobby.snapshot", 1),
      ]);
      await log.publish(
        "RMBBBB",
        ["lobby.player_removed", { player_id: 71, reason: "kicked" }],
        pick,
      );
      await removed.ended;
      assert.deepEqual(names(of(removed, b)), ["lobby.snapshot", "lobby.player_removed"]);
    });

    test("the end of a lobby leaves a stream open for its other topics, also when the stream resumes later", async () => {
      const [a, b] = [log.topic("NDAAAA"), log.topic("NDBBBB")];
      const live = follow([a, b]);
      await Promise.all([count(live, a, "lobby.snapshot", 1), count(live, b, "lobby.snapshot", 1)]);
      const last = await log.publish("NDAAAA", pick, ended);
      await count(live, a, "lobby.ended", 1);
      log.state.set("NDAAAA", { status: "finished" });
      const missed = follow([a, b], { last: `${last - 1}.0`, hub: 1 });
      const returned = follow([a, b], { last: `${last}.0`, hub: 1 });
      const fresh = follow([list, b, a], { hub: 1 });
      await Promise.all([count(missed, a, "lobby.ended", 1), count(fresh, a, "lobby.snapshot", 1)]);
      await longer();
      await log.publish("NDBBBB", pick);
      for (const stream of [live, missed, returned, fresh]) {
        await count(stream, b, "lobby.pick", 1);
        assert.equal(stream.connections(), 1);
      }
      assert.deepEqual(live.lastEventId, `${last}.1`);
      assert.deepEqual(fresh.lastEventId, `1.${last}`);
      assert.deepEqual(of(returned, a), []);
      await log.publish("NDBBBB", ended);
      await Promise.all([live.ended, missed.ended, returned.ended]);
      await count(fresh, b, "lobby.ended", 1);
      await longer();
      numLobbies += 1;
      await log.redis.publish(publicListChannel, "");
      await fresh.waitFor(
        (frame) => JSON.stringify(frame.data).includes(`{"n":${numLobbies}}`),
        "list",
      );
      fresh.close();
    });

    test("the work of a hub is counted in the metrics", async () => {
      const { metrics } = hubs[1];
      const value = async (name: "hubOpens" | "hubBytes" | "hubEvents", kind?: string) => {
        const { values } = await metrics[name].get();
        return (
          values.find(({ labels }) => kind === undefined || labels["kind"] === kind)?.value ?? 0
        );
      };
      const read = async () => ({
        opens: await value("hubOpens"),
        bytes: await value("hubBytes"),
        in: await value("hubEvents", "in"),
        delivered: await value("hubEvents", "delivered"),
        resumed: await value("hubEvents", "resumed"),
        gap: await value("hubEvents", "gap"),
      });
      const lobby = log.topic("METAAA");
      const stream = follow([lobby], { hub: 1 });
      await count(stream, lobby, "lobby.snapshot", 1);
      const before = await read();
      const seq = await log.publish("METAAA", pick, pick);
      await stream.waitFor((frame) => frame.id === String(seq), "both");
      const resumed = follow([lobby], { hub: 1, last: "1" });
      await resumed.waitFor((frame) => frame.id === String(seq), "the second");
      const lost = follow([lobby], { hub: 1, last: "99" });
      await count(lost, lobby, "lobby.snapshot", 1);
      const after = await read();
      assert.ok(after.bytes > before.bytes);
      assert.deepEqual(
        { ...after, bytes: 0 },
        {
          opens: before.opens + 2,
          bytes: 0,
          in: before.in + 2,
          delivered: before.delivered + 3,
          resumed: before.resumed + 1,
          gap: before.gap + 1,
        },
      );
      const { values } = await metrics.hubWriteSeconds.get();
      assert.ok(values.some(({ metricName, value: n }) => metricName?.endsWith("_count") && n > 0));
    });

    test("an id is split among the lobbies of the stream", () => {
      assert.deepEqual(splitLastEventId(null, 2), [null, null]);
      assert.deepEqual(splitLastEventId("5", 1), ["5"]);
      assert.deepEqual(splitLastEventId("5.6", 1), ["5.6"]);
      assert.deepEqual(splitLastEventId("5.-.7", 3), ["5", null, "7"]);
      assert.deepEqual(splitLastEventId("5", 2), ["", ""]);
      assert.deepEqual(splitLastEventId("5", 0), []);
    });
  });
});
