import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";

/** Creates one level at a time: Node's recursive mkdir never returns for some folders, such as /proc/x. */
export function makeFolder(dir: string, mode?: number): void {
  if (existsSync(dir)) return;
  makeFolder(dirname(dir), mode);
  mkdirSync(dir, mode);
}
