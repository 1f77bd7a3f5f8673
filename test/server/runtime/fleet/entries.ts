import type { InstanceEntry } from "../../../../server/runtime/fleet/entry.ts";

const workers = { numReady: 1, num: 1 };

/** The entry of an instance, with what the test says. */
export const entryOf = (given: Partial<InstanceEntry> = {}): InstanceEntry => ({
  ...{ version: "1.0.0", commit: "c1", build: "b1", environment: "production", host: "host" },
  ...{ pid: 7, publicAddress: "0.0.0.0:8080", operatorAddress: "127.0.0.1:9090", startedAt: 1 },
  ready: "ready",
  workers: { http: workers, jobs: workers },
  nodes: [],
  figures: { numStreams: 1, numRooms: 2, memoryBytes: 3, loopLagMs: 4 },
  ...{ clockOffsetMs: 0, secrets: ["s1"], hasAvatarFolder: false, hasImportFolder: false },
  ...given,
});
