import { AppError } from "../../core/errors.ts";
import type { Deps } from "../../deps.ts";

/** Unfinished lobbies one player may host (LOB-06). */
const maxHosted = 10;
const keepSeconds = 172_800;
const retryAfterSeconds = 60;

const hostedKey = (playerId: number) => `hosted:${playerId}`;

/** Counts a lobby about to be made; throws `lobby:too_many` when ten others are unfinished. */
export async function claimHosting(deps: Deps, playerId: number, code: string): Promise<void> {
  const key = hostedKey(playerId);
  await deps.redis.multi().zadd(key, deps.clock.now(), code).expire(key, keepSeconds).exec();
  if ((await deps.redis.zcard(key)) <= maxHosted) return;
  await dropFinished(deps, key, code);
  // The rank decides between simultaneous creates: of eleven, the last one loses.
  const rank = await deps.redis.zrank(key, code);
  if (rank === null || rank < maxHosted) return;
  await deps.redis.zrem(key, code);
  throw new AppError("lobby:too_many", { params: { retry_after: retryAfterSeconds } });
}

export async function releaseHosting(deps: Deps, playerId: number, code: string): Promise<void> {
  await deps.redis.zrem(hostedKey(playerId), code);
}

async function dropFinished(deps: Deps, key: string, except: string): Promise<void> {
  const codes = (await deps.redis.zrange(key, "0", "-1")).filter((code) => code !== except);
  for (const code of codes) {
    const reply = await deps.lobbies.ask(code, {
      type: "read",
      by: { seatId: null, playerId: null },
    });
    const isGone = reply.ok
      ? statusOf(reply.body) === "finished"
      : reply.code === "lobby:not_found";
    if (isGone) await deps.redis.zrem(key, code);
  }
}

function statusOf(body: string | null): string {
  return (JSON.parse(body ?? "{}") as { lobby?: { status: string } }).lobby?.status ?? "";
}
