import assert from "node:assert/strict";
import { connect } from "node:net";
import { afterEach, describe, it } from "node:test";
import type { Occurrence } from "../../../../server/platform/faults/batch.ts";
import { silentLogger } from "../../../../server/platform/log/logger.ts";
import { createHttpServer } from "../../../../server/http/uws/server.ts";
import { routes } from "../../../../server/app/routes.ts";
import { eventually } from "../../../support/eventually.ts";
import { listFaults } from "../../../support/faults.ts";
import { formOf } from "../../../support/pictures.ts";
import { sendRaw } from "../../../support/raw-http.ts";
import { app, fresh, member, path, type Slow, startsUploadApp } from "./upload-app.ts";

describe("the limits of uploads", () => {
  startsUploadApp();

  describe("many uploads at once", () => {
    let open: Slow[] = [];
    const port = () => Number(new URL(app.url).port);
    /** Uploads that hold their slots. */
    async function hold(token: string, address: string, number: number, to = port()) {
      const key = `uploads:a${address}`;
      const before = await app.deps.redis.zcard(key);
      const slow = Array.from({ length: number }, () => sendSlowly(to, token, address));
      open.push(...slow);
      const isFull = async () => (await app.deps.redis.zcard(key)) === before + number;
      await eventually("the places are taken", isFull);
      return slow;
    }
    afterEach(async () => {
      for (const { socket } of open) socket.destroy();
      open = [];
      const isFree = async () => (await app.deps.redis.keys("uploads:*")).length === 0;
      await eventually("the places are free", isFree);
    });

    it("get four slots per account, and the next one is refused before its body is read", async () => {
      const [one, other] = await Promise.all([member(), member()]);
      const slow = await hold(one.token, "203.0.113.1", 4);
      // From another address, so that the limit of the account applies.
      const fifth = sendSlowly(port(), one.token, "203.0.113.2");
      open.push(fifth);
      const answer = await fifth.answered;
      assert.match(answer, /^HTTP\/1.1 429 /);
      assert.match(answer, /\r\nRetry-After: 5\r\n/);
      assert.match(answer, /"rate_limit:exceeded"/);
      // Others are not affected.
      await other.send(await fresh());
      slow[0]?.socket.destroy();
      await eventually("a place is free", async () => {
        const again = await one.form([{ bytes: await fresh() }]);
        return again.status === 200;
      });
    });

    it("hold their slots until they are answered, so that a burst of a hundred blocks nobody else", async () => {
      const [one, other] = await Promise.all([member(), member()]);
      const picture = await fresh();
      const burst = Array.from({ length: 100 }, () =>
        one.form([{ bytes: picture }], "203.0.113.1"),
      );
      const others = await Promise.all(
        Array.from({ length: 4 }, async () =>
          other.form([{ bytes: await fresh() }], "203.0.113.2"),
        ),
      );
      assert.deepEqual(
        others.map(({ status }) => status),
        [200, 200, 200, 200],
      );
      const statuses = new Set((await Promise.all(burst)).map(({ status }) => status));
      assert.deepEqual([...statuses].sort(), [200, 429]);
    });

    it("get four slots per address, whatever their accounts", async () => {
      const [one, other, third] = await Promise.all([member(), member(), member()]);
      await hold(one.token, "203.0.113.1", 2);
      await hold(other.token, "203.0.113.1", 2);
      const fifth = sendSlowly(port(), third.token, "203.0.113.1");
      open.push(fifth);
      assert.match(await fifth.answered, /^HTTP\/1.1 429 /);
      await third.send(await fresh());
    });

    it("get four slots in total across all workers", async () => {
      const worker = createHttpServer({
        deps: app.deps,
        routes,
        log: silentLogger,
        exclusive: true,
      });
      const otherPort = await worker.listen("127.0.0.1", 0);
      const one = await member();
      const slow = await hold(one.token, "203.0.113.1", 4);
      const fifth = sendSlowly(otherPort, one.token, "203.0.113.2");
      open.push(fifth);
      assert.match(await fifth.answered, /^HTTP\/1.1 429 /);
      fifth.socket.destroy();
      // A small picture arrives whole, before the other worker has counted it.
      const { headers, body } = formOf([{ bytes: await fresh() }]);
      const whole = async () => {
        const answer = await fetch(`http://127.0.0.1:${otherPort}${path}`, {
          method: "POST",
          headers: { ...headers, authorization: `Bearer ${one.token}` },
          body: new Uint8Array(body),
        });
        await answer.arrayBuffer();
        return answer.status;
      };
      const statuses = await Promise.all(Array.from({ length: 12 }, whole));
      assert.deepEqual(new Set(statuses), new Set([429]));
      slow[0]?.socket.destroy();
      await eventually("a place is free", async () => (await whole()) === 200);
      await worker.close();
    });

    it("get the slots of a dead worker back when its leases expire", async () => {
      const one = await member();
      const key = `uploads:p${one.id}`;
      const leaseUntil = (time: number) =>
        app.deps.redis.zadd(key, ...["a", "b", "c", "d"].flatMap((id) => [time, id]));
      await leaseUntil(Date.now() + 15_000);
      const fifth = sendSlowly(port(), one.token, "203.0.113.1");
      open.push(fifth);
      assert.match(await fifth.answered, /^HTTP\/1.1 429 /);
      await leaseUntil(Date.now() - 1);
      await one.send(await fresh());
    });

    it("are counted by each worker alone while Redis does not answer", async (t) => {
      const one = await member();
      t.mock.method(app.deps.redis, "eval", () => new Promise(() => {}));
      const recorded: Occurrence[] = [];
      t.mock.method(app.deps.faults, "record", listFaults(recorded).record);
      await one.send(await fresh());
      assert.ok(
        recorded.some(({ kind, place }) => kind === "degraded" && place === "upload-quota"),
      );
    });

    it("lose their slots when they are slower than 16 KB/s", async (t) => {
      const one = await member();
      const slow = await hold(one.token, "203.0.113.1", 4);
      const elapsed = performance.now.bind(performance);
      t.mock.method(performance, "now", () => elapsed() + 5_000);
      for (const answer of await Promise.all(slow.map(({ answered }) => answered)))
        assert.match(answer, /^HTTP\/1.1 408 [^]*"request:too_slow"/);
      await one.send(await fresh());
    });

    it("are limited per worker, and the next one gets 503 with Retry-After", async () => {
      const members = await Promise.all([member(), member(), member()]);
      await Promise.all(members.map(({ token }, i) => hold(token, `203.0.113.${i + 1}`, 4)));
      const last = await member();
      const answer = await last.form([{ bytes: await fresh() }]);
      assert.deepEqual([answer.status, answer.code], [503, "server:unavailable"]);
      assert.ok(Number(answer.headers.get("retry-after")) >= 1);
    });

    it("leave the connection usable when one of them is refused", async () => {
      const one = await member();
      await hold(one.token, "203.0.113.1", 4);
      const via = "Host: x\r\nX-Forwarded-For: 203.0.113.2\r\n";
      const { headers, body } = formOf([{ bytes: await fresh() }]);
      const head = `POST ${path} HTTP/1.1\r\n${via}Authorization: Bearer ${one.token}\r\nContent-Type: ${headers["content-type"]}\r\nContent-Length: ${body.length}\r\n\r\n`;
      const next = `GET /v1/avatars/icons/none HTTP/1.1\r\n${via}\r\n`;
      const bytes = Buffer.concat([Buffer.from(head), body, Buffer.from(next)]);
      const { responses } = await sendRaw(port(), bytes, { responses: 2 });
      const statuses = responses.map(({ status }) => status);
      assert.equal(statuses[0], 429);
      assert.ok(statuses.length === 1 || statuses[1] === 404, String(statuses));
    });
  });
});

function sendSlowly(port: number, token: string, address: string): Slow {
  const { headers } = formOf([]);
  const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nX-Forwarded-For: ${address}\r\n`;
  const rest = `Content-Type: ${headers["content-type"]}\r\nContent-Length: 4000000\r\n\r\n--`;
  const socket = connect(port, "127.0.0.1", () => socket.write(head + rest));
  let text = "";
  const answered = new Promise<string>((resolve) => {
    socket.on("data", (bytes) => {
      text += bytes.toString("latin1");
      if (text.includes("\r\n\r\n")) resolve(text);
    });
    socket.on("error", () => resolve(text)).on("close", () => resolve(text));
  });
  return { socket, answered };
}
