import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import {
  awaitSuccessor,
  drainWorker,
  startService,
  wakeOperator,
  type Process,
  type Service,
} from "../support/process.ts";
import { runBench } from "../bench/runs.ts";

const numTables = 4;

let service: Service;
let stopped: Promise<number | null> | null = null;
const stop = () => (stopped ??= service.stop());

const workerAt = async (index: number): Promise<Process | undefined> =>
  (await service.processes()).find((one) => one.role === "http" && one.index === index);

/** Drains the worker of a slot and waits until its successor is ready. */
async function replace(index: number): Promise<void> {
  const old = await workerAt(index);
  assert.ok(old);
  assert.equal((await drainWorker(service, index)).status, 202);
  await awaitSuccessor(service, old);
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
    assert.equal((await drainWorker(service, 1)).status, 202);
    await awaitSuccessor(service, other);
    assert.match(output, /"event":"process_drain_timed_out","role":"http","index":1/);
    assert.equal((await drainWorker(service, 0)).status, 202);
    process.kill(old.pid, "SIGKILL");
    await awaitSuccessor(service, old);
    assert.match(output, /"event":"process_exited","role":"http","index":0,.*"signal":"SIGKILL"/);
    for (const index of [0, 1]) assert.equal((await workerAt(index))?.num_restarts, 1);
  });

  it("is refused for the last ready worker and for a draining one, and a stop waits for it", async () => {
    const answers = await Promise.all([
      drainWorker(service, 0),
      drainWorker(service, 1),
      drainWorker(service, 0),
    ]);
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), [202, 409, 409]);
    const texts = await Promise.all(answers.map((answer) => answer.text()));
    assert.ok(texts.some((text) => text.includes("worker:last")));
    assert.equal((await drainWorker(service, 7)).status, 404);
    // The order to stop must not end the draining worker at once.
    assert.equal(await stop(), 0);
  });
});
