import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { dirname } from "node:path";
import { text } from "node:stream/consumers";
import type { Archive } from "../support/archive.ts";
import { builtProgram } from "../support/programs.ts";

/** `npm run import` as a separate process on the stores of `archive`; `dataDir` is its DATA_DIR. */
export class ImportCommand {
  readonly #archive: Archive;
  readonly #dataDir: string;

  constructor(archive: Archive, dataDir: string) {
    this.#archive = archive;
    this.#dataDir = dataDir;
  }

  start(...args: string[]): ChildProcess {
    return this.startAt(this.#archive.stores.databaseUrl, ...args);
  }

  /** Uses another database than the archive. */
  startAt(databaseUrl: string, ...args: string[]): ChildProcess {
    return spawn(process.execPath, [...builtProgram("import"), ...args], {
      env: {
        ...process.env,
        DATABASE_URL: databaseUrl,
        REDIS_URL: this.#archive.stores.redisUrl,
        DATA_DIR: this.#dataDir,
        IMPORT_DIR: dirname(this.#dataDir),
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
  }

  run(...args: string[]): Promise<{ out: string; problems: string; code: number }> {
    return endOf(this.start(...args));
  }
}

/** Output of the process, and its exit code. */
export async function endOf(child: ChildProcess) {
  const { stdout, stderr } = child;
  if (!stdout || !stderr) throw new Error("no output");
  const [out, problems, [code]] = await Promise.all([
    text(stdout),
    text(stderr),
    once(child, "close"),
  ]);
  return { out, problems, code: code as number };
}
