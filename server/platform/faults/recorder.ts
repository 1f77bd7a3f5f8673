import { BatchWriter, type BatchHead } from "../batch-writer.ts";
import type { Instance } from "../instance.ts";
import type { Logger } from "../log/logger.ts";
import type { Metrics } from "../metrics/metrics.ts";
import { noRequests, type RequestTracker } from "../requests/tracker.ts";
import type { Clock } from "../time/clock.ts";
import {
  groupOccurrences,
  type GroupedOccurrences,
  type Occurrence,
  type TimedOccurrence,
} from "./batch.ts";

/** Takes what failed, and what ended well only by a fallback. */
export interface FaultRecorder {
  /** Neither throws nor waits. */
  record(occurrence: Occurrence): void;
}

/** For programs without a store of faults. */
export const noFaults: FaultRecorder = { record: () => undefined };

export interface FaultBatch extends BatchHead {
  groups: GroupedOccurrences[];
}

export interface FaultBatchStore {
  write(batch: FaultBatch): Promise<void>;
}

export interface RecorderOptions {
  store: FaultBatchStore;
  instance: Instance;
  clock: Clock;
  log: Logger;
  metrics: Pick<Metrics, "faults" | "faultsDropped">;
  /** Learns the groups of the failures of requests. Default: nobody. */
  requests?: Pick<RequestTracker, "noteFault">;
  /** Milliseconds between two batches; for tests. */
  everyMs?: number;
}

/** Writes the occurrences of a process in batches (OPS-21). */
export class BatchingFaultRecorder implements FaultRecorder {
  readonly #options: RecorderOptions;
  readonly #writer: BatchWriter<TimedOccurrence, Pick<FaultBatch, "groups">>;

  constructor(options: RecorderOptions) {
    const { store, instance, log, everyMs, requests = noRequests } = options;
    this.#options = options;
    this.#writer = new BatchWriter({
      name: "fault",
      instance: instance.id,
      log,
      everyMs,
      bodyOf: (occurrences) => {
        const groups = groupOccurrences(occurrences, instance);
        for (const { id, requestIds } of groups)
          for (const requestId of requestIds) requests.noteFault(requestId, id);
        return { groups };
      },
      write: (batch) => store.write(batch),
    });
  }

  record(occurrence: Occurrence): void {
    const { metrics, clock } = this.#options;
    if (this.#writer.add({ ...occurrence, atMs: clock.now() }))
      metrics.faults.inc({ kind: occurrence.kind });
    else metrics.faultsDropped.inc();
  }

  flush(): Promise<void> {
    return this.#writer.flush();
  }

  stop(): Promise<void> {
    return this.#writer.stop();
  }
}
