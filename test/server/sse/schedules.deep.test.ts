import assert from "node:assert/strict";
import { request, type ClientRequest } from "node:http";
import { after, before, test, describe } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { startHubServer, startTestRedis, type HubServer, type TestRedis } from "./hub-server.ts";
import { createRandom } from "../../support/random.ts";
import { createLobbyLog, type LobbyLog } from "./lobby-log.ts";

const numSchedules = 500;
const codes = ["SCHAAA", "SCHBBB", "SCHCCC", "SCHDDD", "SCHEEE"];
const messagesPerLobby = 240;
let hasEnded = false;
let redis: TestRedis;
let log: LobbyLog;
let hubs: HubServer[];

interface Client {
  code: string;
  seed: number;
  /** Numbers in order of arrival; a snapshot is a separate entry. */
  seen: { event: string; seq: number }[];
  lastId: string | null;
  connections: number;
}

const framePattern = /\n*id: (\d+)\nevent: ([a-z_.]+)\ndata: ([^\n]*)\n\n/y;

/**
 * Reads one connection until `wanted` frames have arrived or the newest was seen, then disconnects
 * abruptly.
 */
function readSome(
  client: Client,
  hub: HubServer,
  wanted: number,
  isOver: (seq: number) => boolean,
) {
  return new Promise<void>((resolve, reject) => {
    const query = { ip: `10.9.${client.seed % 250}.1` };
    const headers = client.lastId === null ? {} : { "last-event-id": client.lastId };
    let taken = 0;
    let rest = "";
    const leave = (from: ClientRequest) => {
      from.destroy();
      resolve();
    };
    const sent = request(hub.url(log.topic(client.code), query), { headers, agent: false });
    sent.on("response", (response) => {
      response.setEncoding("utf8");
      response.on("data", (text: string) => {
        rest += text;
        rest = rest.replace(/^(?:retry: \d+\n\n|:\n\n|\n)+/, "");
        for (;;) {
          framePattern.lastIndex = 0;
          const match = framePattern.exec(rest);
          if (!match) break;
          rest = rest.slice(match[0].length);
          const seq = Number(match[1]);
          client.seen.push({ event: match[2] ?? "", seq });
          client.lastId = String(seq);
          taken += 1;
          if (taken >= wanted || isOver(seq)) return leave(sent);
        }
        if (rest.startsWith("event: lobby.gap")) reject(new Error(`${client.code} told of a gap`));
      });
      response.on("error", () => resolve());
      response.on("end", () => resolve());
    });
    sent.on("error", () => resolve());
    sent.end();
  });
}

async function play(client: Client, isOver: (code: string, seq: number) => boolean): Promise<void> {
  const next = createRandom(client.seed);
  const isDone = (seq: number) => hasEnded || isOver(client.code, seq);
  while (!isDone(client.seen.at(-1)?.seq ?? -1)) {
    const hub = hubs[Math.floor(next() * hubs.length)];
    assert.ok(hub);
    client.connections += 1;
    const wanted = next() < 0.25 ? 1 : 1 + Math.floor(next() * 120);
    await readSome(client, hub, wanted, isDone);
    if (next() < 0.5) await delay(next() * 60);
  }
}

describe("streams under random schedules", () => {
  before(async () => {
    redis = await startTestRedis();
    log = createLobbyLog(redis.url);
    // Replay buffers so short that many reconnects are served from Redis.
    const limits = { replayBufferMessages: 16, tickMs: 50, maxStreamsPerSeat: 1_000 };
    const options = { redisUrl: redis.url, snapshotOf: log.snapshotOf, limits };
    hubs = [startHubServer(options), startHubServer(options), startHubServer(options)];
  });
  after(async () => {
    hasEnded = true;
    await Promise.all(hubs.map((hub) => hub.stop()));
    log.close();
    await redis.stop();
  });

  test("five hundred clients that connect and disconnect at random miss no event and get none twice", async () => {
    const final = new Map<string, number>();
    const isOver = (code: string, seq: number) => seq >= (final.get(code) ?? Infinity);
    const clients = Array.from({ length: numSchedules }, (_, seed): Client => {
      const code = codes[seed % codes.length] ?? "";
      return { code, seed, seen: [], lastId: null, connections: 0 };
    });
    const publishing = Promise.all(
      codes.map(async (code) => {
        let seq = 0;
        for (let n = 0; seq < messagesPerLobby; n++) {
          const messages = Array.from({ length: 1 + (n % 3) }, () => ["lobby.answer", {}] as [string, unknown]); // prettier-ignore
          // Occasionally a publication is lost, which only the next one reveals.
          const isLost = n % 7 === 3;
          seq = await (isLost ? log.publishSilently : log.publish)(code, ...messages);
          await delay(20);
        }
        final.set(code, await log.publish(code, ["lobby.answer", {}]));
      }),
    );
    await Promise.all([publishing, ...clients.map((client) => play(client, isOver))]);
    for (const { seen, code, seed } of clients) {
      const snapshots = seen.filter(({ event }) => event === "lobby.snapshot");
      assert.equal(snapshots.length, 1, `client ${seed}: one snapshot`);
      const first = seen[0]?.seq ?? -1;
      assert.equal(seen[0]?.event, "lobby.snapshot", `client ${seed}`);
      const expected = Array.from(
        { length: (final.get(code) ?? 0) - first + 1 },
        (_, n) => first + n,
      );
      assert.deepEqual(
        seen.map(({ seq }) => seq),
        expected,
        `client ${seed} of ${code}`,
      );
    }
    const connections = clients.reduce((sum, client) => sum + client.connections, 0);
    assert.ok(connections > numSchedules * 3, `${connections} connections`);
  });
});
