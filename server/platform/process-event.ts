/** What happens to processes, as operators see it later (OPS-60). */
export const processEventKinds = [
  /** The process is ready. */
  "started",
  /** It ended without being told to. */
  "exited",
  /** It has not answered the primary for ten seconds, and is killed. */
  "frozen",
  "drain_started",
  "drained",
  /** It was to drain and serves on: no other instance takes its rooms any more. */
  "drain_cancelled",
  /** It did not drain in time, and was killed. */
  "drain_timed_out",
  /** It owns shards of another process, which is dead, frozen or unreachable. */
  "takeover",
  /** The whole service was told to stop. */
  "stopping",
  /** More events than the primary can hold; `detail.count` were lost. */
  "dropped",
] as const;
export type ProcessEventKind = (typeof processEventKinds)[number];

export interface ProcessEvent {
  /** Unique: an event that is stored twice counts once. */
  key: string;
  kind: ProcessEventKind;
  atMs: number;
  /** Instance id of the primary. */
  service: string;
  role: string;
  /** Its place among the processes of its role. */
  index: number;
  pid: number;
  /** Name of the instance; null for a process that was never ready. */
  instance: string | null;
  version: string | null;
  /** Digest of the sources of its build. */
  build: string | null;
  /** Facts of the kind, such as exit code and signal. */
  detail: Readonly<Record<string, string | number | null>>;
}

export interface StoredProcessEvent extends Omit<ProcessEvent, "kind"> {
  /** Any text: a later version may have stored it. */
  kind: string;
}
