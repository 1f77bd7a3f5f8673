import { accessSync, constants } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { makeFolder } from "./folders.ts";

/** The folder `CACHE_DIR` names, else one of the user, else `fallback` where the user can keep nothing. */
export function cacheFolder(setting: string, fallback: string): string {
  if (setting !== "") return resolve(setting);
  const folder = join(homedir(), ".cache", "emberline");
  try {
    makeFolder(folder);
    accessSync(folder, constants.W_OK);
    return folder;
  } catch {
    return fallback;
  }
}
