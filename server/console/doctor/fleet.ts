import type { FleetInstance } from "../../runtime/fleet/entry.ts";
import type { FleetProblem } from "../../runtime/fleet/problems.ts";
import { advice, finding, type Finding } from "./finding.ts";

/** What the checks need of a live instance. */
export type InstanceFacts = Pick<
  FleetInstance,
  "host" | "version" | "ready" | "workers" | "hasAvatarFolder"
>;

/** Checks that the registry of instances makes, by what they are called here. */
const checks: readonly [check: string, kinds: FleetProblem["kind"][], well: string][] = [
  ["secrets of the fleet", ["secrets"], "every instance accepts the tokens of the others"],
  ["clocks of the fleet", ["clocks"], "less than 500 ms apart"],
  ["imports", ["import-folder", "local-imports"], "no job names files of one machine"],
];

export function fleetFindings(
  instances: readonly InstanceFacts[],
  problems: readonly FleetProblem[],
): Finding[] {
  if (instances.length === 0)
    return [finding("fleet", { found: "no instance is registered", todo: "start one" }, "")];
  return [
    finding("fleet", null, `${numbered(instances.length)} registered`),
    readinessFinding(instances),
    versionsFinding(instances),
    processesFinding(instances),
    avatarsFinding(instances, problems),
    ...checks.map(([check, kinds, well]) => problemFinding(check, kinds, problems, well)),
  ];
}

const numbered = (count: number) => (count === 1 ? "1 instance" : `${count} instances`);

function readinessFinding(instances: readonly InstanceFacts[]): Finding {
  const others = instances.filter(({ ready }) => ready !== "ready");
  const found = others.map(({ host, ready }) => `${host}: ${ready}`).join(", ");
  const fault = others.length > 0 && { found, todo: "wait, or read the log of that instance" };
  return advice("instances", fault, "all are ready");
}

function versionsFinding(instances: readonly InstanceFacts[]): Finding {
  const versions = [...new Set(instances.map(({ version }) => version))].toSorted();
  const fault = versions.length > 1 && {
    found: `instances run ${versions.join(" and ")}`,
    todo: "finish the upgrade: restart the others, then console fleet:finish-upgrade",
  };
  return advice("versions", fault, `all run ${versions.join()}`);
}

function processesFinding(instances: readonly InstanceFacts[]): Finding {
  const sum = (role: "http" | "jobs") =>
    instances.reduce((total, { workers }) => total + workers[role].num, 0);
  const found = `${numbered(instances.length)}, ${sum("http")} HTTP workers, ${sum("jobs")} job workers`;
  if (sum("jobs") === 0)
    return finding("processes", { found, todo: "set JOB_WORKERS: no job is run" }, "");
  const fault = instances.length < 2 && { found, todo: "run a second instance on another machine" };
  return advice("processes", fault, found);
}

/** One instance alone may keep avatars in a folder. */
function avatarsFinding(
  instances: readonly InstanceFacts[],
  problems: readonly FleetProblem[],
): Finding {
  const well = "in a store that instances share";
  if (problems.some(({ kind }) => kind === "avatar-folder"))
    return problemFinding("avatars", ["avatar-folder"], problems, well);
  const fault = instances.some(({ hasAvatarFolder }) => hasAvatarFolder) && {
    found: "avatars are in a folder of the machine",
    todo: "back it up; set AVATAR_STORE before a second instance",
  };
  return advice("avatars", fault, well);
}

/** The text of a problem ends with what to do, after a colon. */
function problemFinding(
  check: string,
  kinds: readonly FleetProblem["kind"][],
  problems: readonly FleetProblem[],
  well: string,
): Finding {
  const [problem] = problems.filter(({ kind }) => kinds.includes(kind));
  if (problem === undefined) return finding(check, null, well);
  const at = problem.text.lastIndexOf(": ");
  return finding(check, { found: problem.text.slice(0, at), todo: problem.text.slice(at + 2) }, "");
}
