import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { filesToFormat } from "./support/changed-files.ts";

/** `npm run format [-- --changed]`: formats all files, or those that differ from the last commit. */
const files = filesToFormat(process.argv.includes("--changed"));
const options = ["--write", "--cache", "--cache-strategy", "content", "--log-level", "warn"];
const last = ["--ignore-unknown", "--no-error-on-unmatched-pattern"];
const { status } =
  files.length === 0
    ? { status: 0 }
    : spawnSync(join("node_modules", ".bin", "prettier"), [...options, ...last, ...files], {
        stdio: "inherit",
      });
process.exitCode = status ?? 1;
