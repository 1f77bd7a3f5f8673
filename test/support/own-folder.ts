import {
  accessSync,
  chmodSync,
  constants,
  globSync,
  mkdtempSync,
  rmSync,
  statfsSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onStopSignals } from "../../server/runtime/boot/signals.ts";
import { stopOrphan } from "../../server/runtime/stores/orphans.ts";
import { stopAll } from "./cleanup.ts";

const interruptedCode = 130;

/**
 * Work of a program that starts servers: everything temporary is in one folder, and neither its end nor a signal
 * leaves any of it behind. Resolves with the exit code.
 */
export async function inOwnFolder(work: () => Promise<number>): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "ember-run-"));
  // Started by root, Postgres runs as another account and must pass.
  chmodSync(folder, 0o755);
  process.env["TMPDIR"] = folder;
  let isInterrupted = false;
  const { first } = onStopSignals({
    first: () => {
      isInterrupted = true;
      // Whom the work still talks to goes away now, which is no news.
      for (const event of ["unhandledRejection", "uncaughtException"]) process.on(event, () => {});
    },
    again: () => process.exit(interruptedCode),
  });
  const interrupted = first.then(stopAll).then(() => interruptedCode);
  try {
    const worked = work().catch((error: unknown) => {
      if (isInterrupted) return interrupted;
      throw error;
    });
    return await Promise.race([worked, interrupted]);
  } finally {
    await removeWithServers(folder);
  }
}

/** The primary of a service first: it would start its stores again. */
const pidFiles: [name: string, program: RegExp, signal: NodeJS.Signals][] = [
  ["primary.lock", /server\/main/, "SIGINT"],
  ["{redis,postmaster}.pid", /redis-server|valkey-server|postgres/, "SIGINT"],
  ["forked-*.pid", /-process\.ts/, "SIGKILL"],
];

/**
 * Stores are in sessions of their own; their pid files lead to them. Of a Postgres, SIGINT is the stop that does not
 * wait for its clients.
 */
export async function removeWithServers(folder: string): Promise<void> {
  for (const [name, program, signal] of pidFiles)
    for (const file of globSync(`**/${name}`, { cwd: folder }))
      await stopOrphan(join(folder, file), program, signal);
  rmSync(folder, { recursive: true, force: true });
}

/** Where temporary files go: into memory, which copies a database forty times faster than many a disk, if there is enough. */
export function fastFolder(): string {
  const path = "/dev/shm";
  const neededBytes = 2 ** 30;
  try {
    accessSync(path, constants.W_OK);
    const { bavail, bsize } = statfsSync(path);
    return bavail * bsize >= neededBytes ? path : tmpdir();
  } catch {
    return tmpdir();
  }
}
