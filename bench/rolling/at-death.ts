import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Writable } from "node:stream";

/** A clean-up that happens in any case. */
export interface AtDeath {
  /** Runs it now; resolves when it is done. */
  now(): Promise<void>;
  /** It waits for every process that has this open. */
  pipe: Writable;
}

/**
 * Runs a shell script with these arguments when this process ends, in whatever way: the shell waits for the end of a
 * pipe, which the system closes. It is in a session of its own, so that signals of a terminal do not reach it.
 */
export function atDeath(script: string, ...args: readonly string[]): AtDeath {
  const janitor = spawn("sh", ["-c", `cat > /dev/null\n${script}`, "sh", ...args], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  const ended = once(janitor, "exit");
  janitor.unref();
  return {
    pipe: janitor.stdin,
    async now() {
      janitor.ref();
      janitor.stdin.end();
      await ended;
    },
  };
}
