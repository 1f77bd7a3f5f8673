import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { after, before, describe, it } from "node:test";
import { startService, type Service } from "../support/process.ts";

const clients = 8;
/** Their lines are several times the capacity of a pipe. */
const requestsEach = 500;
/** A stop that waits for a stalled consumer kills each process 20 s later. */
const stopLimitMs = 20_000;

describe("the log lines of a service", () => {
  let service: Service;
  before(async () => {
    service = await startService({
      env: { LOG_LEVEL: "info", HTTP_WORKERS: "2", RATE_LIMIT_FACTOR: "0" },
    });
  });
  after(() => service.stop());

  const ask = () =>
    Promise.all(Array.from({ length: clients }, () => requestWithRetry(service.url)));

  it("are whole and complete, however late and slowly they are read", async () => {
    const { stdout } = service;
    stdout.pause();
    await ask();
    let text = "";
    let count = 0;
    stdout.on("data", (chunk: Buffer) => {
      text += chunk.toString("latin1");
      stdout.pause();
      void turn().then(() => stdout.resume());
    });
    stdout.resume();
    while (count < clients * requestsEach) {
      await once(stdout, "data");
      count = text.split('"/v1/health-check"').length - 1;
    }
    stdout.removeAllListeners("data");
    const lines = text.slice(0, text.lastIndexOf("\n")).split("\n");
    for (const line of lines) assert.doesNotThrow(() => void JSON.parse(line), line);
  });

  it("let every process end when nobody reads them", async () => {
    service.stdout.pause();
    await ask();
    const started = performance.now();
    assert.equal(await service.stop(), 0);
    assert.ok(performance.now() - started < stopLimitMs);
  });
});

/** Sequential requests on one connection. */
async function requestWithRetry(url: string): Promise<void> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  for (let n = 0; n < requestsEach; n++) {
    socket.write(`GET /v1/health-check HTTP/1.1\r\nhost: ${hostname}\r\n\r\n`);
    const [answer] = (await once(socket, "data")) as [Buffer];
    assert.match(answer.toString("latin1"), /^HTTP\/1.1 200 /);
  }
  socket.destroy();
}
