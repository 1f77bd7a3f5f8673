import { readFileSync } from "node:fs";
import { asset } from "../../platform/assets.ts";
import { AppError } from "../../platform/errors.ts";
import type { LobbyDeps } from "./deps.ts";

/** Unfinished lobbies one player may host (LOB-06). */
const maxHosted = 10;
const keepSeconds = 172_800;
const retryAfterSeconds = 60;
/** Lease of a reserved slot without a lobby: its create is in progress and takes no longer. */
const pendingMs = 15_000;

const script = readFileSync(asset("server/features/lobbies/hosting.lua"), "utf8");
const hostedKey = (playerId: number) => `hosted:${playerId}`;

/** Reserves a slot for a new lobby; throws `lobby:too_many` when ten others are unfinished. */
export async function claimHosting(deps: LobbyDeps, playerId: number, code: string): Promise<void> {
  const key = hostedKey(playerId);
  if (await takePlace(deps, key, code)) return;
  await dropFinished(deps, key);
  if (await takePlace(deps, key, code)) return;
  throw new AppError("lobby:too_many", { params: { retry_after: retryAfterSeconds } });
}

export async function releaseHosting(
  deps: LobbyDeps,
  playerId: number,
  code: string,
): Promise<void> {
  await deps.redis.zrem(hostedKey(playerId), code);
}

/** One atomic step in Redis, so that concurrent creates never exceed the limit (S33). */
async function takePlace(deps: LobbyDeps, key: string, code: string): Promise<boolean> {
  const args = [code, deps.clock.now(), maxHosted, keepSeconds];
  return (await deps.redis.eval(script, 1, key, ...args)) === 1;
}

async function dropFinished(deps: LobbyDeps, key: string): Promise<void> {
  const places = await deps.redis.zrange(key, "0", "-1", "WITHSCORES");
  for (let i = 0; i + 1 < places.length; i += 2) {
    const code = places[i] ?? "";
    if (await isOver(deps, code, Number(places[i + 1]))) await deps.redis.zrem(key, code);
  }
}

async function isOver(deps: LobbyDeps, code: string, claimedAt: number): Promise<boolean> {
  const by = { seatId: null, playerId: null };
  const reply = await deps.lobbies.ask(code, { type: "read", by });
  if (reply.ok) return statusOf(reply.body) === "finished";
  const isPending = Math.abs(deps.clock.now() - claimedAt) < pendingMs;
  return reply.code === "lobby:not_found" && !isPending;
}

export function statusOf(body: string | null): string {
  return (JSON.parse(body ?? "{}") as { lobby?: { status: string } }).lobby?.status ?? "";
}
