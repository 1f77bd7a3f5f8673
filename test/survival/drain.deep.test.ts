import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { startService, wakeOperator, type Process, type Service } from "../support/process.ts";
import { runBench } from "../bench/runs.ts";

const numTables = 4;
const limitMs = 60_000;

let service: Service;
let stopped: Promise<number | null> | null = null;
const stop = () => (stopped ??= service.stop());

const workerAt = async (index: number): Promise<Process | undefined> =>
  (await service.processes()).find((one) => one.role === "http" && one.index === index);

async function drain(index: number): Promise<{ status: number; text: string }> {
  const response = await fetch(`${service.operatorUrl}/operator/workers/${index}/drain`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${service.operatorToken}`,
      "content-type": "application/json",
    },
    body: JSON.stringify({ reason: "it grew" }),
  });
  return { status: response.status, text: await response.text() };
}

/** Drains the worker of a slot and waits until its successor is ready. */
async function replace(index: number): Promise<void> {
  const old = await workerAt(index);
  assert.ok(old);
  assert.equal((await drain(index)).status, 202);
  await waitForSuccessor(old);
}

async function waitForSuccessor({ index, pid }: Process): Promise<void> {
  const deadline = performance.now() + limitMs;
  for (let now = await workerAt(index); !(now?.is_ready && now.pid !== pid);) {
    assert.ok(performance.now() < deadline, `worker ${index} has no successor`);
    await wait(50);
    now = await workerAt(index);
  }
}

describe("the drain of one worker", () => {
  before(async () => {
    service = await startService({
      sharesPostgres: true,
      env: {
        HTTP_WORKERS: "2",
        WORKER_PORTS: "auto",
        RATE_LIMIT_FACTOR: "0",
        LOBBY_MIN_QUESTION_MS: "0",
        HUB_STREAMS_PER_ADDRESS: "1000",
      },
    });
    await wakeOperator(service);
  });
  after(() => stop());

  it("loses and doubles no acknowledged command under play", async () => {
    let drains = 0;
    const report = await runBench("survival", {
      url: service.url,
      load: { shape: "closed", users: numTables, seconds: 15 },
      beside: async ({ signal }) => {
        for (; !signal.aborted || drains < 2; drains++) await replace(drains % 2);
      },
    });
    assert.deepEqual(report.violations, []);
    assert.equal(report.status, "completed", report.problems.join());
    assert.ok(report.operations.some(({ name, count }) => name === "answer" && count > 0));
    // A drain is no failure: nothing restarted by itself.
    for (const { num_restarts: restarts } of await service.processes()) assert.equal(restarts, 0);
  });

  it("is reported and counted when the worker does not end by itself", async () => {
    let output = "";
    service.stdout.on("data", (chunk: Buffer) => (output += chunk.toString("utf8")));
    const [old, other] = await Promise.all([workerAt(0), workerAt(1)]);
    assert.ok(old && other);
    // Frozen, it drains for ever.
    process.kill(other.pid, "SIGSTOP");
    assert.equal((await drain(1)).status, 202);
    await waitForSuccessor(other);
    assert.match(output, /"event":"process_drain_timed_out","role":"http","index":1/);
    assert.equal((await drain(0)).status, 202);
    process.kill(old.pid, "SIGKILL");
    await waitForSuccessor(old);
    assert.match(output, /"event":"process_exited","role":"http","index":0,.*"signal":"SIGKILL"/);
    for (const index of [0, 1]) assert.equal((await workerAt(index))?.num_restarts, 1);
  });

  it("is refused for the last ready worker and for a draining one, and a stop waits for it", async () => {
    const answers = await Promise.all([drain(0), drain(1), drain(0)]);
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), [202, 409, 409]);
    assert.ok(answers.some(({ text }) => text.includes("worker:last")));
    assert.equal((await drain(7)).status, 404);
    // The order to stop must not end the draining worker at once.
    assert.equal(await stop(), 0);
  });
});
