import { Redis } from "ioredis";
import type { SnapshotMessage } from "../../../server/platform/room-source.ts";
import { eventChannel, eventStreamKey } from "../../support/lobby-keys.ts";

/** Publishes like the commit script: all messages of a lobby and their publication in one step. */
const publishScript = `
local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
local seq = last and tonumber(string.match(last[1], '^%d+')) or tonumber(ARGV[2])
for i = 4, #ARGV do
  seq = seq + 1
  local payload = string.gsub(ARGV[i], '"seq":0', '"seq":' .. seq, 1)
  local message = seq .. '\\n' .. payload
  redis.call('XADD', KEYS[1], 'MAXLEN', '~', 256, seq .. '-0', 'd', message)
  if ARGV[3] == 'loud' then redis.call('PUBLISH', ARGV[1], message) end
end
return seq`;

export interface LobbyLog {
  readonly redis: Redis;
  topic(code: string): string;
  /** Publishes messages `[type, data]` and returns the number of the last. */
  publish(code: string, ...messages: [type: string, data: unknown][]): Promise<number>;
  /** Commits without publication, as if a publication were lost. */
  publishSilently(code: string, ...messages: [type: string, data: unknown][]): Promise<number>;
  /** A lobby's answer: its newest number, and these members. */
  snapshotOf: (code: string) => Promise<SnapshotMessage | null>;
  state: Map<string, { status?: string; visibility?: string; players?: { id: number }[] } | null>;
  close(): void;
}

export function createLobbyLog(url: string): LobbyLog {
  const redis = new Redis({ path: url.slice("unix://".length), retryStrategy: () => 50 });
  redis.on("error", () => undefined);
  const state: LobbyLog["state"] = new Map();
  const topic = (code: string) => `/games/trivia/lobby/${code}`;
  const send = async (code: string, mode: string, messages: [string, unknown][]) => {
    const payloads = messages.map(([type, data]) =>
      JSON.stringify({ type, topic: topic(code), seq: 0, at_ms: Date.now(), data }),
    );
    const keys = [eventStreamKey(code), eventChannel(code)] as const;
    return Number(await redis.eval(publishScript, 1, ...keys, "0", mode, ...payloads));
  };
  return {
    redis,
    topic,
    state,
    publish: (code, ...messages) => send(code, "loud", messages),
    publishSilently: (code, ...messages) => send(code, "silent", messages),
    snapshotOf: async (code) => {
      const lobby = state.get(code);
      if (lobby === null) return null;
      const [newest] = await redis.xrevrange(eventStreamKey(code), "+", "-", "COUNT", 1);
      const seq = newest ? Number.parseInt(newest[0], 10) : 0;
      const message = { type: "lobby.snapshot", topic: topic(code), seq, at_ms: Date.now() };
      return { seq, payload: JSON.stringify({ ...message, data: { lobby: lobby ?? {} } }) };
    },
    close: () => redis.disconnect(),
  };
}
