import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

/**
 * The folder with `package.json`: the repository when running from the sources, else the build folder, into
 * which `npm run build` copies every asset under the same name.
 */
const root = nearestWith("package.json", import.meta.dirname);

/** Path of a file that is read at run time, by its name in the repository: `asset("server/http/limits/rate-limit.lua")`. */
export const asset = (name: string): string => join(root, name);

function nearestWith(file: string, folder: string): string {
  return existsSync(join(folder, file)) ? folder : nearestWith(file, dirname(folder));
}
