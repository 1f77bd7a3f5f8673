import { setTimeout as wait } from "node:timers/promises";
import type { Redis } from "ioredis";
import type { Process, Service } from "../support/process.ts";
import type { TestStores } from "../support/stores.ts";
import { startProber, type Prober } from "./prober.ts";
import { lobbiesOf, type Takeovers } from "./takeover.ts";

export interface FaultsOptions {
  service: Service;
  stores: TestStores;
  redis: Redis;
  /** Codes of the lobbies in play. */
  codes: () => string[];
  seconds: number;
  report: (line: string) => void;
}

export interface Faults {
  takeovers: Takeovers;
  kills: number;
  freezes: number;
  restarts: number;
  /** Workers that were already gone when they were to be killed. */
  ended: number[];
}

interface FaultContext extends FaultsOptions {
  prober: Prober;
}

const killEveryMs = 3_000;
const freezeMs = 6_000;
const redisDownMs = 500;
/** Number of a victim's lobbies that are probed: enough for a median, few enough not to disturb. */
const probesPerFault = 12;

/** Kills a worker every three seconds, freezes one, restarts Redis once. */
export async function makeFaults(options: FaultsOptions): Promise<Faults> {
  const prober = startProber();
  try {
    // Otherwise the first measurement would include the time to load the prober.
    await prober.answersAfter(options.service.url, "/health");
    return await runFaults({ ...options, prober });
  } finally {
    await prober.stop();
  }
}

async function runFaults(options: FaultContext): Promise<Faults> {
  const { seconds } = options;
  const faults: Faults = {
    takeovers: { announced: [], silent: [] },
    kills: 0,
    freezes: 0,
    restarts: 0,
    ended: [],
  };
  const freezeAt = Math.floor(seconds / 3) * 1_000;
  const restartAt = Math.floor((seconds * 3) / 4) * 1_000;
  const startedAt = performance.now();
  const elapsed = () => performance.now() - startedAt;
  const others: Promise<void>[] = [];
  let frozen: number | null = null;
  for (let at = killEveryMs; at <= seconds * 1_000; at += killEveryMs) {
    await wait(Math.max(0, at - elapsed()));
    if (faults.freezes === 0 && at >= freezeAt) {
      const victim = await pickVictim(options, null);
      frozen = victim?.pid ?? null;
      if (victim) faults.freezes += 1;
      if (victim) others.push(freeze(options, faults, victim).then(() => void (frozen = null)));
    } else if (faults.restarts === 0 && at >= restartAt) others.push(restart(options, faults));
    else await kill(options, faults, frozen);
  }
  await Promise.all(others);
  return faults;
}

/** The ready worker with the longest uptime that owns a lobby, if any does; null if only one is ready. */
async function pickVictim(options: FaultsOptions, except: number | null): Promise<Process | null> {
  const workers = (await options.service.processes()).filter(
    ({ role, is_ready: isReady, pid }) => role === "http" && isReady && pid !== except,
  );
  if (workers.length < 2) return null;
  const byAge = workers.toSorted((a, b) => a.started_at.localeCompare(b.started_at));
  for (const worker of byAge) if ((await victimLobbies(options, worker)).length > 0) return worker;
  return byAge[0] ?? null;
}

async function kill(options: FaultContext, faults: Faults, frozen: number | null): Promise<void> {
  const victim = await pickVictim(options, frozen);
  if (!victim) return options.report("no second worker is ready, nobody is killed");
  const codes = await victimLobbies(options, victim);
  try {
    process.kill(victim.pid, "SIGKILL");
  } catch {
    return void faults.ended.push(victim.pid);
  }
  faults.kills += 1;
  const times = await allAnswer(options, codes);
  faults.takeovers.announced.push(...times);
  options.report(`killed ${victim.pid}: ${codes.length} lobbies available after ${show(times)}`);
}

async function freeze(options: FaultContext, faults: Faults, victim: Process): Promise<void> {
  const codes = await victimLobbies(options, victim);
  process.kill(victim.pid, "SIGSTOP");
  const thawed = wait(freezeMs).then(() => process.kill(victim.pid, "SIGCONT"));
  const times = await allAnswer(options, codes);
  faults.takeovers.silent.push(...times);
  options.report(`froze ${victim.pid}: ${codes.length} lobbies available after ${show(times)}`);
  await thawed;
}

async function restart({ stores, report }: FaultsOptions, faults: Faults): Promise<void> {
  faults.restarts += 1;
  const at = performance.now();
  await stores.redis.kill();
  await wait(redisDownMs);
  await stores.redis.restart();
  report(`restarted Redis in ${Math.round(performance.now() - at)} ms`);
}

const allAnswer = ({ prober, service }: FaultContext, codes: readonly string[]) =>
  Promise.all(
    codes.map((code) => prober.answersAfter(service.url, `/v1/games/trivia/lobbies/${code}`)),
  );

async function victimLobbies({ redis, codes }: FaultsOptions, victim: Process): Promise<string[]> {
  const owned = await lobbiesOf(redis, victim.incarnation ?? "", codes()).catch(() => []);
  return owned.slice(0, probesPerFault);
}

const show = (times: readonly number[]) => times.map((ms) => `${Math.round(ms)}`).join(" ") + " ms";
