import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { maxWaiting } from "../../../../server/platform/batch-writer.ts";
import { BatchingFaultRecorder } from "../../../../server/platform/faults/recorder.ts";
import { silentLogger } from "../../../../server/platform/log/logger.ts";
import { createMetrics } from "../../../../server/platform/metrics/metrics.ts";
import { eventually } from "../../../support/eventually.ts";
import { failedJob, instance, openFaults } from "./stored-faults.ts";

type Opened = Awaited<ReturnType<typeof openFaults>>;

describe("the recorder of faults", () => {
  let faults: Opened;
  let recorder: BatchingFaultRecorder;
  let metrics: ReturnType<typeof createMetrics>;
  let numWrites = 0;
  const total = async () =>
    (await faults.store.list()).groups.reduce((sum, group) => sum + group.total, 0);

  beforeEach(async () => {
    faults = await openFaults();
    metrics = createMetrics();
    numWrites = 0;
    const { store, clock } = faults;
    const write: typeof store.write = (batch) => {
      numWrites++;
      return store.write(batch);
    };
    recorder = new BatchingFaultRecorder({
      ...{ store: { write }, instance, clock, metrics },
      ...{ log: silentLogger, everyMs: 5 },
    });
  });
  afterEach(async () => {
    await recorder.stop();
    await faults.stop();
  });

  it("writes what a process collected in one call, without being asked", async () => {
    for (let n = 0; n < 300; n++) recorder.record(failedJob(`j${n}`, 0));
    await eventually("a batch", async () => (await total()) === 300);
    assert.equal(numWrites, 1);
  });

  it("drops and counts what exceeds its buffer, and the store knows how many", async () => {
    for (let n = 0; n < maxWaiting + 7; n++) recorder.record(failedJob(`j${n}`, 0));
    await recorder.flush();
    assert.equal(await total(), maxWaiting);
    recorder.record(failedJob("later", 1));
    await recorder.flush();
    assert.equal((await faults.store.list()).numDropped, 7);
    assert.equal((await metrics.faultsDropped.get()).values[0]?.value, 7);
  });

  it("keeps its buffer while Redis is away, and writes it afterwards", async () => {
    await faults.server.kill();
    for (let n = 0; n < 5; n++) recorder.record(failedJob(`j${n}`, 0));
    await recorder.flush();
    for (let n = 5; n < maxWaiting + 9; n++) recorder.record(failedJob(`j${n}`, 0));
    await recorder.flush();
    await faults.server.restart();
    await eventually("a batch", async () => (await total().catch(() => 0)) === maxWaiting);
  });

  it("writes what waits when the process stops, and does not wait for a store that is away", async () => {
    recorder.record(failedJob("a", 0));
    await recorder.stop();
    assert.equal(await total(), 1);
  });

  it("takes errors of every kind", async () => {
    const odd = [null, undefined, "text", 7, {}, Object.create(null), new AggregateError([])];
    for (const error of odd) recorder.record({ ...failedJob("a", 0), error });
    await recorder.flush();
    assert.equal(await total(), odd.length);
  });
});
