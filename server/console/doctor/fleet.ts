import type { Config } from "../../platform/config/config.ts";
import { advice, finding, type Finding } from "./finding.ts";

/** What a check of the fleet needs of each instance. */
export interface InstanceFacts {
  version: string;
  numHttpWorkers: number;
  numJobWorkers: number;
}

/** Without a registry of instances this one is known, from its own settings. */
export const fleetFindings = (config: Config, instances: readonly InstanceFacts[]): Finding[] => [
  versionsFinding(instances),
  avatarsFinding(config, instances.length),
  redundancyFinding(instances),
];

function versionsFinding(instances: readonly InstanceFacts[]): Finding {
  const versions = [...new Set(instances.map(({ version }) => version))].sort();
  const fault = versions.length > 1 && {
    found: `instances run ${versions.join(" and ")}`,
    todo: "finish the upgrade: restart the others, then console fleet:finish-upgrade",
  };
  return advice("versions", fault, `${instances.length} at ${versions.join()}`);
}

function avatarsFinding({ AVATAR_STORE, DATA_DIR }: Config, numInstances: number): Finding {
  const found = `avatars are in a folder of this machine: ${DATA_DIR}`;
  if (AVATAR_STORE !== "") return finding("avatars", null, "in a store that instances share");
  return numInstances > 1
    ? finding("avatars", { found, todo: "set AVATAR_STORE, instances must share it" }, "")
    : advice(
        "avatars",
        { found, todo: "back it up; set AVATAR_STORE before a second instance" },
        "",
      );
}

function redundancyFinding(instances: readonly InstanceFacts[]): Finding {
  const workers = instances.reduce((sum, { numHttpWorkers }) => sum + numHttpWorkers, 0);
  const jobWorkers = instances.reduce((sum, { numJobWorkers }) => sum + numJobWorkers, 0);
  const found = `${instances.length === 1 ? "1 instance" : `${instances.length} instances`}, ${workers} HTTP workers, ${jobWorkers} job workers`;
  if (jobWorkers === 0)
    return finding("processes", { found, todo: "set JOB_WORKERS: no job is run" }, "");
  const fault = instances.length < 2 && { found, todo: "run a second instance on another machine" };
  return advice("processes", fault, found);
}
