import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, beforeEach, describe, it } from "node:test";
import { sql } from "kysely";
import { rowsOf } from "../../../../db/queries/rows.ts";
import {
  announceFailures,
  lookBackMs,
} from "../../../../server/features/faults/domain/announce.ts";
import { maxPerMinute } from "../../../../server/features/faults/domain/alert-memory.ts";
import {
  listFailures,
  setFailureState,
} from "../../../../server/features/faults/domain/failures.ts";
import { createFaultStore } from "../../../../server/features/faults/domain/fault-store.ts";
import { BatchingFaultRecorder } from "../../../../server/platform/faults/recorder.ts";
import { Fault } from "../../../../server/platform/faults/fault.ts";
import { createInstance } from "../../../../server/platform/instance.ts";
import { noOrigin } from "../../../../server/platform/origin.ts";
import { timestamp } from "../../../../server/platform/time/clock.ts";
import { startApp, type App } from "../../../support/app.ts";
import { manualClock } from "../../../support/clock.ts";

interface Received {
  headers: IncomingMessage["headers"];
  text: string;
  body: Record<string, unknown>;
}

const secret = "a-secret-that-both-sides-know";
const clock = manualClock(Date.parse("2026-03-01T12:00:00Z"));
let app: App;
let receiver: { url: string; received: Received[]; status: number; stop(): Promise<void> };
let recorder: BatchingFaultRecorder;

/** A receiver of announcements, which answers with a status. */
async function startReceiver(): Promise<typeof receiver> {
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  const own = {
    url: `http://user:pass@127.0.0.1:${port}/hook`,
    received: [] as Received[],
    status: 204,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
  async function answer(request: IncomingMessage, response: ServerResponse) {
    let text = "";
    for await (const chunk of request) text += String(chunk);
    const body = JSON.parse(text) as Record<string, unknown>;
    own.received.push({ headers: request.headers, text, body });
    response.writeHead(own.status, { location: "http://127.0.0.1:1/" }).end();
  }
  return own;
}

const deps = () => ({ ...app.deps, em: app.deps.orm.em.fork(), clock });
const run = () => announceFailures(deps());
const store = () => createFaultStore(app.deps.redis, clock);

/** Records a failure of this code. */
async function fail(code: string): Promise<void> {
  const error = new Fault(`${code}.refused`, { peer: "mail.example:25", status: 550 });
  recorder.record({ kind: "job", place: "mail", error, origin: { ...noOrigin, playerId: 7 } });
  await recorder.flush();
}

const idOf = async (code: string): Promise<string> => {
  const { groups } = await store().list();
  return groups.find(({ key }) => key.code === `${code}.refused`)?.id ?? assert.fail(code);
};

const resolve = async (code: string) =>
  setFailureState(
    { store: store(), clock, em: async () => app.deps.orm.em.fork() },
    await idOf(code),
    {
      state: "resolved",
      by: "olga",
    },
  );

const codes = () => receiver.received.map(({ body }) => [body["event"], body["code"]]);

describe("the announcement of failures by webhook", () => {
  before(async () => {
    receiver = await startReceiver();
    app = await startApp({
      hasJobs: false,
      env: {
        OPERATOR_WEBHOOK_URL: receiver.url,
        OPERATOR_WEBHOOK_SECRET: secret,
        OPERATOR_URL: "https://ops.example",
      },
    });
    const instance = createInstance({ role: "test", index: 0, version: "1" });
    const { log, metrics } = app.deps;
    recorder = new BatchingFaultRecorder({ store: store(), instance, clock, log, metrics });
  });
  after(async () => {
    await recorder.stop();
    await app.stop();
    await receiver.stop();
  });
  beforeEach(async () => {
    const keys = await app.deps.redis.keys("jobs:faults*");
    if (keys.length > 0) await app.deps.redis.del(...keys);
    await rowsOf(app.deps.em, sql`delete from fault_group_decisions`);
    receiver.received.length = 0;
    receiver.status = 204;
    clock.advance(60_000);
  });

  it("says what failed where, how often and since when, signed, once", async () => {
    await fail("smtp");
    await run();
    const [{ headers, text, body } = assert.fail()] = receiver.received;
    const id = await idOf("smtp");
    assert.deepEqual(
      [body["event"], body["id"], body["code"], body["peer"], body["place"], body["status"]],
      ["new", id, "smtp.refused", "mail.example:25", "mail", 550],
    );
    assert.equal(body["first_seen_at"], timestamp(clock.now()));
    assert.deepEqual([body["num_occurrences"], body["num_players"]], [1, 1]);
    assert.equal(body["url"], `https://ops.example/operator/failures/${id}`);
    assert.equal(headers["authorization"], `Basic ${Buffer.from("user:pass").toString("base64")}`);
    const [, seconds, digest] =
      /^t=(\d+),v1=(\w+)$/.exec(String(headers["x-emberline-signature"])) ?? [];
    const expected = createHmac("sha256", secret).update(`${seconds}.${text}`).digest("hex");
    assert.equal(digest, expected);
    await fail("smtp");
    await run();
    assert.equal(receiver.received.length, 1);
  });

  it("is repeated when a resolved group has a new occurrence, once each time", async () => {
    await fail("smtp");
    await run();
    for (let time = 1; time <= 2; time++) {
      clock.advance(1_000);
      await resolve("smtp");
      await run();
      assert.equal(receiver.received.length, time, "resolved");
      clock.advance(1_000);
      await fail("smtp");
      await run();
      await run();
      assert.equal(receiver.received.length, time + 1, "open again");
    }
    assert.deepEqual(codes().at(-1), ["reopened", "smtp.refused"]);
    const keys = receiver.received.map(({ headers }) => headers["idempotency-key"]);
    assert.equal(new Set(keys).size, 3);
  });

  it("is at most twenty in a minute, each of which counts those that wait", async () => {
    for (let n = 0; n <= maxPerMinute; n++) await fail(`s${n}`);
    await run();
    await run();
    assert.equal(receiver.received.length, maxPerMinute);
    assert.equal(receiver.received.at(-1)?.body["num_more"], 1);
    clock.advance(60_000);
    await run();
    assert.equal(receiver.received.length, maxPerMinute + 1);
    assert.equal(receiver.received.at(-1)?.body["num_more"], 0);
  });

  it("does not announce what was there before the first look", async () => {
    await fail("old");
    clock.advance(lookBackMs + 1);
    await fail("fresh");
    await run();
    await fail("old");
    await run();
    assert.deepEqual(codes(), [["new", "fresh.refused"]]);
  });

  it("is sent again after a failure, which becomes a group that is not announced", async () => {
    await fail("smtp");
    await fail("sms");
    receiver.status = 302;
    const error = await run().then(
      () => assert.fail("the redirect was followed"),
      (fault: unknown) => fault,
    );
    assert.ok(error instanceof Fault);
    assert.deepEqual([error.code, error.status, error.isPermanent], ["alert.status", 302, false]);
    assert.equal(receiver.received.length, 2, "one that fails does not hold back the other");
    recorder.record({ kind: "job", place: "maintenance", error, origin: noOrigin });
    await recorder.flush();
    receiver.status = 200;
    await run();
    await run();
    assert.equal(receiver.received.length, 4);
    const { failures } = await listFailures({ store: store(), clock, em: async () => deps().em });
    assert.ok(failures.some(({ key }) => key.code === "alert.status"));
  });

  it("says nothing of the address that does not answer but its host", async () => {
    await fail("smtp");
    const { config } = app.deps;
    const gone = {
      ...deps(),
      config: { ...config, OPERATOR_WEBHOOK_URL: "http://user:pass@127.0.0.1:1/x" },
    };
    await assert.rejects(announceFailures(gone), (error) => {
      assert.ok(error instanceof Fault);
      assert.deepEqual([error.code, error.peer], ["alert.unreachable", "127.0.0.1:1"]);
      return !/user|pass/.test(error.message);
    });
  });

  it("does nothing without the setting", async () => {
    await fail("smtp");
    const { config } = app.deps;
    await announceFailures({ ...deps(), config: { ...config, OPERATOR_WEBHOOK_URL: "" } });
    assert.equal(receiver.received.length, 0);
  });
});
