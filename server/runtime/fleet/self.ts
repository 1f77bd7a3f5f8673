import { hostname } from "node:os";
import type { Config } from "../../platform/config/config.ts";
import type { Instance } from "../../platform/instance.ts";
import { buildCommit } from "../../platform/version.ts";
import type { Children } from "../boot/children.ts";
import { joinAddress } from "../boot/ports.ts";
import type { ProcessInfo } from "../ipc.ts";
import type { ProcessFigures } from "../process-questions.ts";
import type { InstanceEntry } from "./entry.ts";
import { fingerprintsOf } from "./fingerprint.ts";

/** What an instance finds of itself at each renewal of its lease. */
export type ObservedEntry = Pick<InstanceEntry, "ready" | "workers" | "nodes" | "figures">;
/** What it knows from its start on. */
export type StaticEntry = Omit<InstanceEntry, keyof ObservedEntry | "clockOffsetMs">;

export const aboutInstance = (config: Config, { version, build }: Instance): StaticEntry => ({
  version,
  commit: buildCommit,
  build,
  environment: config.APP_ENV,
  host: hostname(),
  pid: process.pid,
  publicAddress: joinAddress(config.HOST, config.PORT),
  operatorAddress: config.OPERATOR_LISTEN,
  startedAt: Math.round(performance.timeOrigin),
  secrets: fingerprintsOf(config),
  hasAvatarFolder: config.AVATAR_STORE === "",
  hasImportFolder: config.IMPORT_DIR !== "",
});

export async function observeInstance(
  children: Pick<Children, "list" | "ask">,
  ready: string,
): Promise<ObservedEntry> {
  const figures = (await children.ask("figures", null)) as ProcessFigures[];
  const processes = children.list();
  const sum = (key: "numStreams" | "numRooms" | "memoryBytes") =>
    figures.reduce((total, one) => total + one[key], 0);
  const lags = figures.flatMap(({ loopLagMs }) => loopLagMs ?? []);
  return {
    ready,
    workers: { http: countOf(processes, "http"), jobs: countOf(processes, "jobs") },
    nodes: processes.flatMap(({ nodeId }) => nodeId ?? []),
    figures: {
      numStreams: sum("numStreams"),
      numRooms: sum("numRooms"),
      memoryBytes: sum("memoryBytes"),
      loopLagMs: lags.length === 0 ? null : Math.max(...lags),
    },
  };
}

function countOf(processes: readonly ProcessInfo[], wanted: ProcessInfo["role"]) {
  const ofRole = processes.filter(({ role }) => role === wanted);
  return { numReady: ofRole.filter(({ isReady }) => isReady).length, num: ofRole.length };
}
