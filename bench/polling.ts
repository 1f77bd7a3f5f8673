import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { builtProgram } from "../test/support/programs.ts";
import type { Service } from "../test/support/process.ts";
import { openReader } from "./raw-request.ts";

/** Results of polling an address. */
export interface Polled {
  times: number[];
  errors: number;
  /** Distinct states that `look` returned. */
  seen: Set<string>;
}

const pauseMs = 2;
export const wait = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));

/** Polls until the work is done; `look` extracts the state from a body, or null. */
export async function pollUntil(
  over: Promise<unknown>,
  { url }: Service,
  path: (n: number) => string,
  look: (body: unknown) => string | null,
): Promise<Polled> {
  const polled: Polled = { times: [], errors: 0, seen: new Set() };
  const state = { isOver: false };
  over.finally(() => (state.isOver = true)).catch(() => {});
  const reader = await openReader(url);
  for (let n = 0; !state.isOver; n++) {
    const started = performance.now();
    const answer = await reader.read(path(n)).catch(() => null);
    polled.times.push(performance.now() - started);
    const found =
      answer === null ? null : look((JSON.parse(answer.toString()) as { body: unknown }).body);
    if (found === null) polled.errors++;
    else polled.seen.add(found);
    await wait(pauseMs);
  }
  reader.close();
  await over;
  return polled;
}

/** Runs a script of the project in a separate process on the service's stores. */
export async function runConcurrently(
  service: Service,
  program: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<void> {
  const child = spawn(process.execPath, [...builtProgram(program), ...args], {
    env: {
      ...process.env,
      DATABASE_URL: service.databaseUrl,
      REDIS_URL: service.redisUrl,
      ...env,
    },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const [problems, [code]] = await Promise.all([text(child.stderr), once(child, "close")]);
  if (code !== 0) throw new Error(`${program} ended with ${code}: ${problems}`);
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
