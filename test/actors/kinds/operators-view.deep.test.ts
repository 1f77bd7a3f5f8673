import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ChildProcess } from "node:child_process";
import { after, before, describe, it } from "node:test";
import { callRouteOf } from "../../server/operator/call-route.ts";
import { roomRoutes } from "../../../server/operator/room-routes.ts";
import type { RoomReport, RoomsReport, ToChild, ToPrimary } from "../../../server/runtime/ipc.ts";
import { Questions } from "../../../server/runtime/questions.ts";
import { openStream } from "../../support/event-stream.ts";
import { eventually } from "../../support/eventually.ts";
import { forked } from "../../support/forked.ts";
import { freePort } from "../../support/free-port.ts";
import { testStores, type TestStores } from "../../support/stores.ts";

/** A worker of the service with counters, and the questions of its primary. */
interface Member {
  child: ChildProcess;
  questions: Questions;
}

interface Kinds {
  kinds: { kind: string; num_owners: number; num_rooms: number; num_shards: number }[];
}

interface Room {
  code: string;
  owner: string;
  status: string;
  last_seq: number;
}

const codes = ["CNTAAA", "CNTBBB", "CNTCCC", "CNTDDD"];
const askLimitMs = 10_000;

describe("the view of operators on a second kind of room in two HTTP workers", () => {
  let stores: TestStores;
  let url = "";
  let dataDir = "";
  const members: Member[] = [];

  async function start(): Promise<void> {
    const { databaseUrl, redisUrl } = stores;
    const child = forked(new URL("counter-process.ts", import.meta.url), [], {
      ...{ APP_ENV: "test", DATABASE_URL: databaseUrl, REDIS_URL: redisUrl, DATA_DIR: dataDir },
      ...{ HOST: "127.0.0.1", PORT: new URL(url).port, RATE_LIMIT_FACTOR: "0" },
      ...{ LOG_LEVEL: "error" },
    });
    const questions = new Questions((message) => child.send(message), 16);
    members.push({ child, questions });
    const order: ToChild = { type: "start", prepares: false, index: 0 };
    child.send(order);
    await new Promise<void>((ready, fail) =>
      child.on("message", (message: ToPrimary) => {
        if (message.type === "answer") questions.receive(message);
        if (message.type === "failed") fail(new Error(message.reason));
        if (message.type === "ready") ready();
      }),
    );
  }

  before(async () => {
    stores = await testStores();
    url = `http://127.0.0.1:${await freePort()}`;
    dataDir = mkdtempSync(join(tmpdir(), "ember-view-"));
    await Promise.all([start(), start()]);
  });
  after(async () => {
    for (const { child } of members) child.kill("SIGKILL");
    await stores.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  /** As the primary asks its children. */
  const routes = roomRoutes({
    rooms: async () =>
      (await Promise.all(
        members.map(({ questions }) => questions.ask("rooms", askLimitMs)),
      )) as RoomsReport[],
    room: async (about) =>
      (await Promise.all(
        members.map(({ questions }) => questions.ask("room", askLimitMs, about)),
      )) as RoomReport[],
    processes: async () =>
      members.map(({ child: { pid = 0 } }, index) => ({
        role: "http",
        index,
        pid,
        isReady: true,
        restarts: 0,
        startedAt: 0,
        nodeId: null,
      })),
  });
  const read = <Body>(path: string) => callRouteOf<Body>(routes, `/operator/rooms${path}`);

  const command = (code: string, type: string) =>
    fetch(`${url}/v1/counters/${code}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ type, by: 1 }),
    });

  it("counts the rooms and shards of both workers", async () => {
    await eventually("both workers own shards", async () => {
      const { kinds } = await read<Kinds>("");
      return kinds.every(({ num_owners, num_shards }) => num_owners === 2 && num_shards === 1024);
    });
    for (const code of codes) assert.equal((await command(code, "open")).status, 200);
    const { kinds } = await read<Kinds>("");
    assert.deepEqual(
      kinds.map(({ kind, num_rooms }) => [kind, num_rooms]),
      [
        ["lobby", 0],
        ["counter", codes.length],
      ],
    );
  });

  it("lists the rooms of the kind with their owners, and shows each one wherever it is owned", async () => {
    const { rooms, owners } = await read<{ rooms: Room[]; owners: { incarnation: string }[] }>(
      "/counter",
    );
    assert.deepEqual(rooms.map(({ code }) => code).toSorted(), codes);
    for (const { code, owner, status } of rooms) {
      assert.equal(status, "running");
      assert.ok(owners.some(({ incarnation }) => incarnation === owner));
      const { room } = await read<{ room: Room }>(`/counter/${code}`);
      assert.deepEqual([room.code, room.owner, room.status], [code, owner, "running"]);
    }
    const few = await read<{ rooms: Room[] }>("/counter?limit=3");
    assert.equal(few.rooms.length, 3);
  });

  it("sums the subscribers of a room over the workers", async () => {
    const [code = ""] = codes;
    const streams = [1, 2, 3].map(() =>
      openStream(`${url}/v1/hub?topic=/games/trivia/counter/${code}`, { reconnect: false }),
    );
    for (const stream of streams)
      await stream.waitFor(({ event }) => event === "counter.snapshot", "a snapshot");
    const { room } = await read<{ room: { num_subscribers: number } }>(`/counter/${code}`);
    assert.equal(room.num_subscribers, streams.length);
    for (const stream of streams) stream.close();
  });
});
