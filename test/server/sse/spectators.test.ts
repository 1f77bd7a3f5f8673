import assert from "node:assert/strict";
import { after, before, test, describe } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { openStream, type EventStream } from "../../support/event-stream.ts";
import { startHubServer, startTestRedis, type HubServer, type TestRedis } from "./hub-server.ts";
import { createLobbyLog, type LobbyLog } from "./lobby-log.ts";

let redis: TestRedis;
let log: LobbyLog;
let hub: HubServer;
const published: [code: string, count: number][] = [];
const streams = new Set<EventStream>();

function watch(code: string, query: Record<string, string> = { spectator: "1" }): EventStream {
  const stream = openStream(hub.url(log.topic(code), query), { reconnect: false });
  streams.add(stream);
  return stream;
}

const names = (stream: EventStream) => stream.frames.map((frame) => frame.event);

const reaches = (stream: EventStream, event: string) =>
  stream.waitFor((frame) => frame.event === event, event);

const pick = (n: number): [string, unknown] => ["lobby.pick", { player_id: 1, selected_index: n }];

const settings = (visibility: string): [string, unknown] => [
  "lobby.settings",
  { changes: { visibility }, lobby: { visibility } },
];

describe("spectator streams", () => {
  before(async () => {
    redis = await startTestRedis();
    log = createLobbyLog(redis.url);
    hub = startHubServer({
      redisUrl: redis.url,
      snapshotOf: log.snapshotOf,
      limits: { reportMs: 20, audienceRepeatMs: 100, replayBufferMessages: 8 },
      publishSpectators: async (code, count) => void published.push([code, count]),
    });
  });
  after(async () => {
    for (const stream of streams) stream.close();
    await hub.stop();
    log.close();
    await redis.stop();
  });

  test("a spectator sees what players see, except picks", async () => {
    log.state.set("AAAAAA", { visibility: "public" });
    const player = watch("AAAAAA", {});
    const spectator = watch("AAAAAA");
    await Promise.all([reaches(player, "lobby.snapshot"), reaches(spectator, "lobby.snapshot")]);
    await log.publish("AAAAAA", pick(1), ["lobby.answer", {}], pick(2), pick(3));
    await log.publish("AAAAAA", pick(0), ["lobby.reveal", {}]);
    await Promise.all([reaches(player, "lobby.reveal"), reaches(spectator, "lobby.reveal")]);
    assert.deepEqual(names(spectator), ["lobby.snapshot", "lobby.answer", "lobby.reveal"]);
    assert.equal(names(player).filter((name) => name === "lobby.pick").length, 4);
    assert.ok(!JSON.stringify(spectator.frames).includes("selected_index"));
  });

  test("omitted picks are not a gap for a spectator who resumes", async () => {
    const code = "BBBBBB";
    log.state.set(code, { visibility: "public" });
    const first = watch(code);
    await reaches(first, "lobby.snapshot");
    // More than the replay buffer holds, so that a reconnect at the first number has to read far back.
    let seq = 0;
    for (let n = 0; n < 30; n++) seq = await log.publish(code, pick(n % 4));
    while (first.lastEventId !== String(seq)) await delay(5);
    assert.deepEqual(names(first), ["lobby.snapshot"]);
    first.close();
    await log.redis.xtrim(`${await streamOf(code)}`, "MAXLEN", 1);
    const second = watch(code, { spectator: "1", last: first.lastEventId ?? "" });
    await log.publish(code, pick(1), ["lobby.reveal", {}]);
    await reaches(second, "lobby.reveal");
    assert.deepEqual(names(second), ["lobby.reveal"]);
  });

  test("replayed events contain no picks for a spectator either", async () => {
    const code = "CCCCCC";
    log.state.set(code, { visibility: "public" });
    for (let n = 0; n < 40; n++) await log.publish(code, pick(n % 4));
    await log.publish(code, ["lobby.question", {}], pick(2), ["lobby.reveal", {}]);
    const stream = watch(code, { spectator: "1", last: "1" });
    await reaches(stream, "lobby.reveal");
    assert.deepEqual(names(stream), ["lobby.question", "lobby.reveal"]);
  });

  test("a lobby that becomes private disconnects its spectators and sends them nothing more", async () => {
    const code = "DDDDDD";
    log.state.set(code, { visibility: "public" });
    const player = watch(code, {});
    const spectator = watch(code);
    await Promise.all([reaches(player, "lobby.snapshot"), reaches(spectator, "lobby.snapshot")]);
    await log.publish(code, settings("public"));
    await log.publish(code, settings("private"), ["lobby.started", {}]);
    await spectator.ended;
    await reaches(player, "lobby.started");
    assert.deepEqual(names(spectator), ["lobby.snapshot", "lobby.settings"]);
    log.state.set(code, { visibility: "private" });
    const late = watch(code);
    await late.ended;
    assert.deepEqual(names(late), []);
  });

  test("the spectator count of this process is sent when it changes, and repeated", async () => {
    const code = "EEEEEE";
    log.state.set(code, { visibility: "public" });
    const counts = () => published.filter(([of]) => of === code).map(([, count]) => count);
    const until = async (isSo: () => boolean) => {
      while (!isSo()) await delay(10);
    };
    const player = watch(code, {});
    await reaches(player, "lobby.snapshot");
    const [one, two] = [watch(code), watch(code)];
    await Promise.all([reaches(one, "lobby.snapshot"), reaches(two, "lobby.snapshot")]);
    await until(() => counts().filter((count) => count === 2).length >= 3);
    one.close();
    await until(() => counts().includes(1));
    two.close();
    await until(() => counts().at(-1) === 0);
    await delay(250);
    assert.equal(counts().filter((count) => count === 0).length, 1, "zero is published once");
  });
});

async function streamOf(code: string): Promise<string> {
  const [key] = await log.redis.keys(`*:e:${code}`);
  assert.ok(key);
  return key;
}
