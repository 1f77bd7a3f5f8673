import type { Redis } from "ioredis";
import { codexImport, queuePrefixOf } from "../../../workers/queues.ts";
import type { FleetInstance } from "./entry.ts";
import { readFleet } from "./registry.ts";

/** Clocks that differ by less cause nothing. */
const maxClockSpreadMs = 500;

/** What should not be between the instances of a fleet. They serve all the same (BOOT-32). */
export interface FleetProblem {
  kind: "secrets" | "avatar-folder" | "clocks" | "import-folder" | "local-imports";
  /** What is wrong where, and what to do. */
  text: string;
}

type Facts = Pick<
  FleetInstance,
  "id" | "host" | "secrets" | "clockOffsetMs" | "hasAvatarFolder" | "hasImportFolder"
>;

const nameOf = ({ host, id }: Facts): string => `${host} (${id})`;

/** Instances that a text names; of more it has the number. */
const maxNamed = 4;

export function namesOf(instances: readonly Facts[]): string {
  const names = instances.slice(0, maxNamed).map(nameOf).join(", ");
  const numMore = instances.length - maxNamed;
  return numMore > 0 ? `${names} and ${numMore} more` : names;
}

/**
 * The problems of the live instances. `numImports`: jobs that wait or run in the queue `codex-import`, each of which
 * names a local file.
 */
export function problemsOf(instances: readonly Facts[], numImports: number): FleetProblem[] {
  if (instances.length < 2) return [];
  return [
    ...unknownSecrets(instances),
    ...avatarFolders(instances),
    ...differingClocks(instances),
    ...importFolders(instances, numImports),
  ];
}

/** Tokens of one instance are refused by another, as during a rotation in the wrong order. */
function unknownSecrets(instances: readonly Facts[]): FleetProblem[] {
  return instances.flatMap((signer) => {
    const [own] = signer.secrets;
    const others = instances.filter(({ secrets }) => own !== undefined && !secrets.includes(own));
    if (others.length === 0) return [];
    const text = `${nameOf(signer)} signs with an APP_SECRET that is unknown to ${namesOf(others)}, which refuse its tokens: make it their APP_SECRET or APP_SECRET_PREVIOUS`;
    return [{ kind: "secrets", text }];
  });
}

function avatarFolders(instances: readonly Facts[]): FleetProblem[] {
  const local = instances.filter(({ hasAvatarFolder }) => hasAvatarFolder);
  if (local.length === 0) return [];
  const text = `avatars of ${namesOf(local)} are in a folder of that machine, where other instances do not find them: set AVATAR_STORE`;
  return [{ kind: "avatar-folder", text }];
}

function differingClocks(instances: readonly Facts[]): FleetProblem[] {
  const byClock = instances.toSorted((a, b) => a.clockOffsetMs - b.clockOffsetMs);
  const [slowest, fastest] = [byClock[0], byClock.at(-1)];
  if (!slowest || !fastest) return [];
  const spreadMs = fastest.clockOffsetMs - slowest.clockOffsetMs;
  if (spreadMs < maxClockSpreadMs) return [];
  const text = `the clock of ${nameOf(fastest)} is ${spreadMs} ms ahead of that of ${nameOf(slowest)}: synchronize both with a time server`;
  return [{ kind: "clocks", text }];
}

function importFolders(instances: readonly Facts[], numImports: number): FleetProblem[] {
  const problems: FleetProblem[] = [];
  const local = instances.filter(({ hasImportFolder }) => hasImportFolder);
  if (local.length > 0)
    problems.push({
      kind: "import-folder",
      text: `IMPORT_DIR is set at ${namesOf(local)}: a job of codex-import may run at any instance, so all need the same files there`,
    });
  if (numImports > 0)
    problems.push({
      kind: "local-imports",
      text: `codex-import has ${numImports} ${numImports === 1 ? "job" : "jobs"} that name files of one machine, and may run at another: import them with \`npm run import\` at that machine`,
    });
  return problems;
}

/** The problems of the fleet now. */
export async function readProblems(redis: Redis): Promise<FleetProblem[]> {
  const [instances, numImports] = await Promise.all([readFleet(redis), countImports(redis)]);
  return problemsOf(instances, numImports);
}

/** Read from the keys of BullMQ: the primary does without the library. */
async function countImports(redis: Redis): Promise<number> {
  const queue = `${queuePrefixOf(redis)}:${codexImport.name}`;
  const lists = ["wait", "paused", "active"].map((state) => redis.llen(`${queue}:${state}`));
  const sets = ["delayed", "prioritized"].map((state) => redis.zcard(`${queue}:${state}`));
  const counts = await Promise.all([...lists, ...sets]);
  return counts.reduce((total, count) => total + count, 0);
}
