import type { ScriptName } from "../../actors/log/scripts.ts";
// oxlint-disable-next-line import/no-cycle -- the model runs scripts, and each script gets the model
import type { ModelRedis, StoredCommit } from "./model-redis.ts";

type Script = (redis: ModelRedis, keys: readonly string[], args: readonly string[]) => unknown;

/** The Lua scripts of `actors`, line by line. */
export const scripts: Record<ScriptName, Script> = {
  commit,
  claim,
  release,
  "mark-intact": markIntact,
  "continue-history": continueHistory,
  "is-intact": readIntact,
  heartbeat,
  alive,
  "index-entry": writeIndexEntry,
};

function commit(redis: ModelRedis, keys: readonly string[], args: readonly string[]): string {
  let letters = "";
  let at = 3;
  const lobbies = Math.floor(keys.length / 4);
  const [worker = "", deadMs = ""] = args;
  if (keys.length > lobbies * 4) {
    const oldest = redis.now() - Number(deadMs);
    const seen = redis.sorted.get(keys.at(-1) ?? "")?.get(worker) ?? oldest;
    if (seen <= oldest && !redis.faults.ignoresOwner) return "s".repeat(lobbies);
  }
  const take = (count: number) => args.slice(at, (at += count));
  for (let i = 0; i < lobbies * 4; i += 4) {
    const [own = "", lobby = "", stream = "", due = ""] = keys.slice(i, i + 4);
    const [token = "", expected = "", stamp = "", code = "", channel = ""] = take(5);
    const [ttl = "", dueAt = ""] = take(2);
    const [fieldCount = "0", removedCount = "0", eventCount = "0"] = take(3);
    const fields = pairs(take(Number(fieldCount) * 2));
    const removed = take(Number(removedCount));
    const messages = pairs(take(Number(eventCount) * 2));
    const [version = "", id = ""] = stamp.split(" ");
    const change: StoredCommit = {
      code,
      token,
      version: Number(version),
      id,
      fields,
      removed,
      messages,
    };
    let verdict: string = judge(redis, own, lobby, { token, expected, stamp });
    const [first] = messages[0] ?? [];
    if (verdict === "c" && first !== undefined && !redis.takes(stream, Number.parseInt(first, 10)))
      verdict = "r";
    letters += verdict;
    if (verdict !== "c") continue;
    write(redis, { stamp, lobby, stream, due, channel, ttl, dueAt }, change);
    redis.committed(change);
  }
  return letters;
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
  asked: { token: string; expected: string; stamp: string },
): "c" | "a" | "f" | "v" {
  const { faults } = redis;
  if ((redis.get(own) ?? "") !== asked.token && !faults.ignoresOwner) return "f";
  const stored = redis.hget(lobby, "v") ?? "";
  if (stored === asked.stamp) return "a";
  return stored === asked.expected || faults.ignoresVersion ? "c" : "v";
}

interface Target {
  stamp: string;
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
  redis.hset(lobby, "v", target.stamp);
  for (const [name, value] of change.fields) {
    if (faults.forgetsAnswers && name.startsWith("k:")) continue;
    redis.hset(lobby, name, value);
  }
  if (faults.sharedWindow !== undefined) shareWindow(redis, lobby, faults.sharedWindow);
  for (const [id, message] of change.messages) {
    if (faults.dropsEvent && message.includes('"lobby.question"')) continue;
    redis.xadd(stream, Number.parseInt(id, 10), message);
    redis.publish(target.channel, message);
  }
  if (target.ttl !== "") {
    redis.ttls.set(lobby, Number(target.ttl));
    if (redis.streams.has(stream)) redis.ttls.set(stream, Number(target.ttl));
  }
  if (faults.forgetsDeadlines || target.dueAt === "") return;
  if (target.dueAt === "-") redis.zrem(target.due, change.code);
  else redis.zadd(target.due, Number(target.dueAt), change.code);
}

function shareWindow(redis: ModelRedis, lobby: string, size: number): void {
  const names = [...(redis.hashes.get(lobby)?.keys() ?? [])].filter((name) =>
    name.startsWith("k:"),
  );
  for (const name of names.slice(0, Math.max(0, names.length - size))) redis.hdel(lobby, name);
}

/** Without the list of owners, which only operators read. */
function claim(redis: ModelRedis, keys: readonly string[], args: readonly string[]): string[] {
  const [own = "", epoch = "", due = "", history = ""] = keys;
  const [expected = "", claimer = "", isOutlived = ""] = args;
  if ((redis.get(own) ?? "") !== expected) return [];
  const next = Number(redis.get(epoch) ?? "0") + 1;
  redis.set(epoch, String(next));
  const token = `${claimer}|${next}`;
  redis.set(own, token);
  redis.owned(own, token, expected);
  const noted = noteIn(redis, history);
  let generation = noted?.generation ?? 0;
  if (noted?.name !== redis.history && !(noted && isOutlived === "1")) {
    if (noted) generation += 1;
    redis.set(history, `${redis.history} ${generation}`);
  }
  const head = [token, String(generation)];
  if (redis.faults.claimHidesDeadlines) return head;
  return [...head, ...redis.zrange(due).flatMap(([code, at]) => [code, String(at)])];
}

function release(redis: ModelRedis, keys: readonly string[], args: readonly string[]): number {
  const [own = ""] = keys;
  if (redis.get(own) !== args[0]) return 0;
  redis.set(own, "");
  redis.owned(own, "", args[0] ?? "");
  return 1;
}

interface Note {
  name: string;
  generation: number;
}

function noteIn(redis: ModelRedis, key: string): Note | null {
  const [name = "", generation] = (redis.get(key) ?? "").split(" ");
  return generation === undefined ? null : { name, generation: Number(generation) };
}

function markIntact(redis: ModelRedis, keys: readonly string[], args: readonly string[]): number[] {
  const [own = "", history = "", ...lobbies] = keys;
  const [token = "", isPart = "", ...stamps] = args;
  if (redis.get(own) !== token) return [];
  const others = lobbies.flatMap((key, i) => ((redis.hget(key, "v") ?? "") === stamps[i] ? [] : i));
  const generation = noteIn(redis, history)?.generation ?? 0;
  if (others.length === 0 && isPart !== "1") redis.set(history, `${redis.history} ${generation}`);
  return others;
}

function continueHistory(
  redis: ModelRedis,
  keys: readonly string[],
  args: readonly string[],
): string {
  for (const key of keys) {
    const noted = noteIn(redis, key);
    if (noted !== null && noted.name === args[0])
      redis.set(key, `${redis.history} ${noted.generation}`);
  }
  return redis.history;
}

function readIntact(redis: ModelRedis, [history = ""]: readonly string[]): number {
  const isIntact = noteIn(redis, history)?.name === redis.history;
  return isIntact || redis.faults.countsAsIntact ? 1 : 0;
}

function heartbeat(
  redis: ModelRedis,
  keys: readonly string[],
  args: readonly string[],
): [known: number, live: string[], leaving: string[], history: string, ports: string[]] {
  const [workers = "", leaving = "", ports = ""] = keys;
  const [me = "", deadMs = "0", leaves = "", isNew = "", port = ""] = args;
  const now = redis.now();
  for (const [worker, at] of redis.zrange(workers))
    if (at > now) redis.zadd(workers, now, worker);
    else if (at <= now - Number(deadMs)) redis.zrem(workers, worker);
  const isKnown = redis.faults.forgivesDeath || (redis.sorted.get(workers)?.has(me) ?? false);
  if (!isKnown && isNew !== "1") return [0, [], [], "", []];
  redis.zadd(workers, now, me);
  if (leaves === "1") redis.zadd(leaving, now, me);
  const live = redis.zrange(workers).map(([worker]) => worker);
  for (const [worker] of redis.zrange(leaving))
    if (!live.includes(worker)) redis.zrem(leaving, worker);
  const leavingNodes = redis.zrange(leaving).map(([worker]) => worker);
  if (port !== "") redis.hset(ports, me, port);
  const known = Object.entries(redis.hgetall(ports));
  for (const [worker] of known) if (!live.includes(worker)) redis.hdel(ports, worker);
  const listed = known.filter(([worker]) => live.includes(worker)).flat();
  return [isKnown ? 1 : 0, live, leavingNodes, redis.history, listed];
}

function alive(redis: ModelRedis, keys: readonly string[], args: readonly string[]): string[] {
  const [workers = ""] = keys;
  const [deadMs = "0", ...asked] = args;
  if (redis.faults.findsNobodyAlive) return [];
  const oldest = redis.now() - Number(deadMs);
  return asked.filter((worker) => (redis.sorted.get(workers)?.get(worker) ?? oldest) > oldest);
}

function writeIndexEntry(
  redis: ModelRedis,
  keys: readonly string[],
  args: readonly string[],
): number {
  const [list = "", order = "", unlisted = ""] = keys;
  const [code = "", seq = "", created = "0", entry = "", , channel = ""] = args;
  const known = redis.hget(list, code) ?? redis.get(unlisted);
  if (known !== null && seq !== "" && Number.parseInt(known, 10) > Number(seq)) return 0;
  let changed = 1;
  if (entry === "" && redis.faults.keepsEntries) return 0;
  if (entry === "") {
    if (seq !== "") redis.set(unlisted, seq);
    redis.zrem(order, code);
    changed = redis.hdel(list, code);
  } else {
    redis.hset(list, code, `${seq}\n${entry}`);
    redis.zadd(order, Number(created), code);
  }
  if (changed === 1 && channel !== "") redis.publish(channel, "");
  return changed;
}
