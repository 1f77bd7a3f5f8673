import argon2 from "argon2";
import { passwordParameters } from "../../server/platform/security/passwords.ts";
import { serveCalls } from "../rpc.ts";

/** Upper bound: password checks only, with the concurrency of the service, in a separate process. */
const password = "correct horse battery staple";
const hash = await argon2.hash(password, passwordParameters);

async function lanes(count: number, seconds: number): Promise<number> {
  const end = performance.now() + seconds * 1_000;
  let checked = 0;
  await Promise.all(
    Array.from({ length: count }, async () => {
      while (performance.now() < end) {
        await argon2.verify(hash, password);
        checked += 1;
      }
    }),
  );
  return checked;
}

const calls = {
  async check({ parallel, seconds }: { parallel: number; seconds: number }) {
    await lanes(parallel, 0.2);
    const started = performance.now();
    const cpu = process.cpuUsage();
    const checked = await lanes(parallel, seconds);
    const { user, system } = process.cpuUsage(cpu);
    const perSecond = checked / ((performance.now() - started) / 1_000);
    // Processor time of each check.
    return { perSecond, cpuMs: (user + system) / 1_000 / checked };
  },
};
export type Argon2Calls = typeof calls;
serveCalls(calls);
