import { setTimeout as wait } from "node:timers/promises";
import type { Redis } from "ioredis";
import { ownerKey, shardOf } from "../../actors/runtime/keys.ts";
import { callOnce } from "./caller.ts";

/** Milliseconds from a fault until each lobby of the victim answered again. */
export interface Takeovers {
  announced: number[];
  silent: number[];
}

const hedgeMs = 100;
const limitMs = 8_000;

/** Codes of the lobbies a worker owns now. */
export async function lobbiesOf(
  redis: Redis,
  incarnation: string,
  codes: readonly string[],
): Promise<string[]> {
  if (codes.length === 0) return [];
  const owners = await redis.mget(codes.map((code) => ownerKey(shardOf(code))));
  return codes.filter((_, i) => owners[i]?.startsWith(`${incarnation}|`));
}

/**
 * Time until a lobby answers. A question goes out again and again without waiting for the one before,
 * because any of them may have reached the process that is gone.
 */
export async function answersAfter(url: string, code: string, since: number): Promise<number> {
  const path = `/v1/games/trivia/lobbies/${code}`;
  return new Promise((resolve) => {
    let isAnswered = false;
    const finish = () => {
      if (isAnswered) return;
      isAnswered = true;
      resolve(performance.now() - since);
    };
    const ask = async () => {
      const headers = { connection: "close" };
      const answer = await callOnce(url, { method: "GET", path, headers }).catch(() => null);
      if (answer?.status === 200) finish();
    };
    const keepAsking = async () => {
      while (!isAnswered && performance.now() - since < limitMs) {
        void ask();
        await wait(hedgeMs);
      }
      finish();
    };
    void keepAsking();
  });
}

export function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
