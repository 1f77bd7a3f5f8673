import type { Occurrence } from "../../server/platform/faults/batch.ts";
import type { FaultRecorder } from "../../server/platform/faults/recorder.ts";

/** A recorder of faults that lists them. */
export const listFaults = (list: Occurrence[]): FaultRecorder => ({
  record: (occurrence) => void list.push(occurrence),
});
