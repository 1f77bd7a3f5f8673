import { accessSync, constants } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { makeFolder } from "./folders.ts";

/**
 * The folder of `CACHE_DIR`, else one in the user's home, else `fallback` if the user has no writable one.
 */
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
