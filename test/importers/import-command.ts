import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before } from "node:test";
import { writeEnvelopeFile } from "../../importers/envelope/write-envelope.ts";
import { entity, envelope, startArchive, type Archive } from "../support/archive.ts";
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

/** Entities of the game `big`. */
export const manyEntities = 4_000;

/**
 * An archive, and a folder with envelopes of the games `big` and `dun` for the command, for the tests of the surrounding
 * `describe`.
 */
export function importScene() {
  let archive: Archive;
  let folder: string;
  let command: ImportCommand;
  const file = (name: string) => join(folder, name);
  before(async () => {
    archive = await startArchive();
    folder = mkdtempSync(join(tmpdir(), "ember-import-"));
    command = new ImportCommand(archive, file("data"));
    const big = Array.from({ length: manyEntities }, (_, n) =>
      entity(`id.item.n${n}`, { data: { n, text: "x".repeat(400) } }),
    );
    const entities = [entity("id.item.a"), entity("id.item.b")];
    await writeEnvelopeFile(envelope({ game: "big", entities: big }), file("big.json.gz"));
    await writeEnvelopeFile(envelope({ game: "dun", version: "2.0" }), file("dun/a.json"));
    await writeEnvelopeFile(envelope({ game: "dun", entities }), file("dun/b.json.gz"));
  });
  after(async () => {
    await archive.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    archive: () => archive,
    folder: () => folder,
    file,
    command: () => command,
    run: (...args: string[]) => command.run(...args),
  };
}
