import type { ModelRedis, ScriptName, StoredCommit } from "./model-redis.ts";

type Script = (redis: ModelRedis, keys: readonly string[], args: readonly string[]) => unknown;

/** The Lua scripts of `actors/runtime`, line by line. */
export const scripts: Record<ScriptName, Script> = {
  commit,
  claim,
  release,
  heartbeat,
  alive,
  listing,
};

function commit(redis: ModelRedis, keys: readonly string[], args: readonly string[]): string {
  const letters = args.map((text, i) => {
    const [own = "", lobby = "", stream = "", due = ""] = keys.slice(i * 4, i * 4 + 4);
    const parts = text.split("\x1f");
    parts.pop();
    const [token = "", expected = "", version = "", id = "", code = "", channel = ""] = parts;
    const [ttl = "", dueAt = "", seq = "0", setCount = "0", removedCount = "0"] = parts.slice(6);
    const fieldsEnd = 12 + Number(setCount) * 2;
    const removedEnd = fieldsEnd + Number(removedCount);
    const change: StoredCommit = {
      code,
      token,
      version: Number(version),
      id,
      seq: Number(seq),
      fields: pairs(parts.slice(12, fieldsEnd)),
      removed: parts.slice(fieldsEnd, removedEnd),
      payloads: parts.slice(removedEnd),
    };
    const verdict = judge(redis, own, lobby, { token, expected, version, id });
    if (verdict !== "c") return verdict;
    write(redis, { lobby, stream, due, channel, ttl, dueAt }, change);
    redis.committed(change);
    return verdict;
  });
  return letters.join("");
}

function pairs(flat: readonly string[]): [string, string][] {
  return Array.from({ length: flat.length / 2 }, (_, i) => [
    flat[i * 2] ?? "",
    flat[i * 2 + 1] ?? "",
  ]);
}

function judge(
  redis: ModelRedis,
  own: string,
  lobby: string,
  asked: { token: string; expected: string; version: string; id: string },
): "c" | "a" | "f" | "v" {
  const { faults } = redis;
  if ((redis.get(own) ?? "") !== asked.token && !faults.ignoresOwner) return "f";
  const version = redis.hget(lobby, "v");
  if (version === asked.version && redis.hget(lobby, "c") === asked.id) return "a";
  if ((version ?? "0") === asked.expected || faults.ignoresVersion) return "c";
  return faults.conflictCountsAsCommitted ? "a" : "v";
}

interface Target {
  lobby: string;
  stream: string;
  due: string;
  channel: string;
  ttl: string;
  dueAt: string;
}

function write(redis: ModelRedis, target: Target, change: StoredCommit): void {
  const { faults } = redis;
  const { lobby, stream } = target;
  for (const field of change.removed) redis.hdel(lobby, field);
  redis.hset(lobby, "v", String(change.version));
  redis.hset(lobby, "c", change.id);
  for (const [name, value] of change.fields) {
    if (faults.forgetsAnswers && name.startsWith("k:")) continue;
    redis.hset(lobby, name, value);
  }
  if (faults.sharedWindow !== undefined) shareWindow(redis, lobby, faults.sharedWindow);
  const first = change.seq - change.payloads.length;
  change.payloads.forEach((payload, n) => {
    if (faults.dropsEvent && payload.includes('"lobby.question"')) return;
    redis.xadd(stream, first + n + 1, payload);
    redis.publish(target.channel, `${first + n + 1}\n${payload}`);
  });
  if (target.ttl !== "") {
    redis.ttls.set(lobby, Number(target.ttl));
    if (redis.streams.has(stream)) redis.ttls.set(stream, Number(target.ttl));
  }
  if (faults.forgetsDeadlines) return;
  if (target.dueAt === "-") redis.zrem(target.due, change.code);
  else if (target.dueAt !== "") redis.zadd(target.due, Number(target.dueAt), change.code);
}

function shareWindow(redis: ModelRedis, lobby: string, size: number): void {
  const names = [...(redis.hashes.get(lobby)?.keys() ?? [])].filter((name) =>
    name.startsWith("k:"),
  );
  for (const name of names.slice(0, Math.max(0, names.length - size))) redis.hdel(lobby, name);
}

function claim(redis: ModelRedis, keys: readonly string[], args: readonly string[]): string[] {
  const [own = "", epoch = "", due = ""] = keys;
  const [expected = "", claimer = ""] = args;
  if ((redis.get(own) ?? "") !== expected) return [];
  const next = Number(redis.get(epoch) ?? "0") + 1;
  redis.set(epoch, String(next));
  const token = `${claimer}|${next}`;
  redis.set(own, token);
  if (redis.faults.claimHidesDeadlines) return [token];
  return [token, ...redis.zrange(due).flatMap(([code, at]) => [code, String(at)])];
}

function release(redis: ModelRedis, keys: readonly string[], args: readonly string[]): number {
  const [own = ""] = keys;
  if (redis.get(own) !== args[0]) return 0;
  redis.set(own, "");
  return 1;
}

function heartbeat(
  redis: ModelRedis,
  keys: readonly string[],
  args: readonly string[],
): (number | string)[] {
  const [workers = ""] = keys;
  const [me = "", deadMs = "0"] = args;
  const now = redis.now();
  for (const [worker, at] of redis.zrange(workers))
    if (at > now) redis.zadd(workers, now, worker);
    else if (at <= now - Number(deadMs)) redis.zrem(workers, worker);
  const isKnown = redis.sorted.get(workers)?.has(me) ?? false;
  redis.zadd(workers, now, me);
  return [isKnown ? 1 : 0, ...redis.zrange(workers).map(([worker]) => worker)];
}

function alive(redis: ModelRedis, keys: readonly string[], args: readonly string[]): string[] {
  const [workers = ""] = keys;
  const [deadMs = "0", ...asked] = args;
  const oldest = redis.now() - Number(deadMs);
  return asked.filter((worker) => (redis.sorted.get(workers)?.get(worker) ?? oldest) > oldest);
}

function listing(redis: ModelRedis, keys: readonly string[], args: readonly string[]): number {
  const [list = "", order = ""] = keys;
  const [code = "", seq = "0", created = "0", entry = ""] = args;
  if (entry === "") {
    redis.zrem(order, code);
    return redis.hdel(list, code);
  }
  const old = redis.hget(list, code);
  if (old !== null && Number.parseInt(old, 10) > Number(seq)) return 0;
  redis.hset(list, code, `${seq}\n${entry}`);
  redis.zadd(order, Number(created), code);
  return 1;
}
