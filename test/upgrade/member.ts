import type { LobbyCommand } from "../../actors/index.ts";
import { App, us_socket_local_port } from "../../server/http/uws/uws.ts";
import type * as Parts from "./parts.ts";
import { publicListChannel } from "../support/lobby-keys.ts";
import { lobbyRoom } from "../support/lobby-room.ts";
import type { SnapshotMessage } from "../../server/platform/room-source.ts";

/**
 * Lobbies and streams of one version in a separate process. Arguments: address of Redis, and of the module
 * with the version's parts.
 */
export type Order =
  | { type: "ask"; code: string; command: LobbyCommand; key?: string }
  | { type: "list" }
  /** Hands everything over and exits, like a worker that is replaced. */
  | { type: "drain" };

const drainMs = 500;
const [, , redisUrl = "", file = ""] = process.argv;
// Both versions export the names in `parts.ts`; the test shows where they differ.
const parts = (await import(file)) as typeof Parts;
const { silentLogger: log, systemClock: clock } = parts;
const topicBase = "/games/trivia";
const topicNames = { rooms: ["lobby"], lists: ["lobbies"] };

const metrics = parts.createMetrics();
let drawn = 0;
const lobbies = await parts.createLobbies({
  redisUrl,
  clock,
  log,
  metrics,
  context: { hubUrl: "/v1/hub", topicBase },
  seatLimit: null,
  enqueueResult: async ({ code }) => process.send?.({ result: code }),
  draw: async ({ count }) =>
    Array.from({ length: count }, () => ({
      id: process.pid * 1_000 + (drawn += 1),
      category: "science",
      difficulty: "easy",
      text: `Question ${drawn}?`,
      choices: ["a", "b", "c", "d"],
      correctIndex: 0,
      explanation: "It is the first.",
      estimatedRate: 75,
      isCached: true,
      numServed: 0,
      numCorrect: 0,
    })),
});
/** Members that the earlier version has under other names. */
const former = lobbies as Partial<{
  tellSpectators: (code: string, count: number) => Promise<void>;
  listPublic: () => Promise<string>;
  snapshot: (code: string) => Promise<SnapshotMessage | null>;
}>;
const tellSpectators = async (code: string, count: number) => {
  const tell = former.tellSpectators ?? lobbies.room.publishSpectators;
  await tell?.(code, count);
};
const listLobbies = () => (former.listPublic ?? lobbies.listIndex).call(lobbies);
const lobby = {
  keys: { stream: parts.eventStreamKey, channel: parts.eventChannel },
  snapshotOf: (code: string) => (former.snapshot ?? lobbies.room.snapshotOf).call(lobbies, code),
  // The earlier version also receives its own messages from Redis.
  ...("room" in lobbies && { commits: lobbies.room.commits }),
};
/** The earlier version has no other kind of room and no other list. */
const earlier = {
  ...lobby,
  publicList: () => listLobbies(),
  tellSpectators,
};
const hub = parts.createHub({
  ...earlier,
  rooms: { lobby: { ...lobbyRoom, ...lobby, publishSpectators: tellSpectators } },
  lists: { lobbies: { channel: publicListChannel, read: () => listLobbies() } },
  config: parts.parseConfig({ HUB_STREAMS_PER_ADDRESS: "100" }),
  log,
  clock,
  metrics,
  faults: { record: () => undefined },
  redisUrl,
});

/**
 * Seat, and for a spectator the number at which the lobby reported itself public, replace a token's claims.
 */
const app = App().get("/v1/hub", (res, req) => {
  const leaving: (() => void)[] = [];
  let isGone = false;
  res.onAborted(() => {
    isGone = true;
    leaving.forEach((leave) => leave());
  });
  const query = new URLSearchParams(req.getQuery());
  const topic = parts.parseTopic(query.get("topic") ?? "", topicBase, topicNames);
  if (!topic) throw new Error(`no topic: ${query}`);
  const numberOf = (name: string) => (query.has(name) ? Number(query.get(name)) : null);
  const subscription = {
    topics: [{ topic, seatId: numberOf("seat"), publicAt: numberOf("public_at") }],
    lastEventId: req.getHeader("last-event-id") || null,
    expiresAt: null,
    ip: "198.51.100.1",
  };
  void hub.admit(subscription).then(
    () => {
      if (isGone) return hub.abandon(subscription);
      res.cork(() => res.writeHeader("Content-Type", "text/event-stream; charset=utf-8"));
      hub.open(subscription, { raw: res, onClose: (leave) => leaving.push(leave) });
    },
    (error: unknown) => res.cork(() => res.writeStatus("503 Full").end(String(error))),
  );
});

async function execute(order: Order): Promise<unknown> {
  switch (order.type) {
    case "ask":
      return lobbies.ask(order.code, order.command, order.key);
    case "list":
      return listLobbies();
    case "drain":
      await hub.drain(drainMs);
      await lobbies.handOver();
      await lobbies.stop();
      return null;
  }
}

process.on("message", ({ n, order }: { n: number; order: Order }) => {
  void execute(order).then((answer) => process.send?.({ n, answer }));
});
process.on("disconnect", () => process.exit(0));
app.listen("127.0.0.1", 0, (socket) => {
  if (!socket) throw new Error("no free port");
  // The previous release named it `incarnation`.
  const described: { nodeId?: string; incarnation?: string } = lobbies.describe();
  const nodeId = described.nodeId ?? described.incarnation;
  process.send?.({ nodeId, port: us_socket_local_port(socket) });
});
