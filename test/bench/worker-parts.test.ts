import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { partOf, type Part } from "../../bench/lobby/worker-parts.ts";

const root = join(import.meta.dirname, "../..");

/** Stacks with the innermost function first. */
const stacks: readonly [part: Part, stack: readonly string[]][] = [
  ["parse", ["forEach", "server/http/uws/server.ts:read", "server/http/uws/server.ts:accept"]],
  ["parse", ["parse", "server/http/pipeline/body.ts:parseJsonObject"]],
  ["auth", ["server/platform/security/tokens.ts:verify", "server/http/auth/authenticate.ts:seat"]],
  [
    "route and pipeline",
    ["server/http/pipeline/validate.ts:check", "server/http/uws/server.ts:run"],
  ],
  [
    "route and pipeline",
    [
      "server/platform/text/room-codes.ts:roomCodeOf",
      "server/features/lobbies/service.ts:readCode",
    ],
  ],
  ["actor", ["server/platform/time/clock.ts:now", "actors/lobby/decide.ts:decide"]],
  ["Redis write", ["actors/runtime/storage/journal.ts:argumentsOf"]],
  [
    "Redis write",
    [
      "writeUtf8String",
      "node:net:Socket._writeGeneric",
      "node_modules/ioredis/built/Redis.js:sendCommand",
    ],
  ],
  ["Redis write", ["node:internal/stream_base_commons:onWriteComplete"]],
  [
    "Redis read",
    [
      "node_modules/ioredis/built/Command.js:resolve",
      "node_modules/ioredis/built/DataHandler.js:returnReply",
    ],
  ],
  ["Redis read", ["node:internal/stream_base_commons:onStreamRead"]],
  [
    "answer",
    ["end", "server/http/replies/respond.ts:respond", "server/http/pipeline/pipeline.ts:run"],
  ],
  [
    "publish and delivery",
    ["server/sse/topics/room-topic.ts:add", "node_modules/ioredis/built/DataHandler.js:returnPush"],
  ],
  ["publish and delivery", ["from", "server/sse/stream/frames.ts:encodeFrame"]],
  [
    "stream write",
    ["write", "server/sse/stream/stream.ts:writeCorked", "node:internal/timers:processImmediate"],
  ],
  [
    "log and metrics",
    ["node_modules/pino/lib/tools.js:asJson", "server/http/pipeline/request-record.ts:record"],
  ],
  ["wake-ups", ["(program)"]],
  ["wake-ups", ["node:internal/timers:listOnTimeout", "node:internal/timers:processTimers"]],
  ["collector", ["(garbage collector)", "actors/lobby/decide.ts:decide"]],
  ["other", ["node:events:emit"]],
];

describe("the parts of an HTTP worker's work", () => {
  it("include the work of each function and of its callees", () => {
    for (const [part, stack] of stacks) assert.equal(partOf(stack), part, stack.join(" < "));
  });

  it("exclude the time in which the process waits", () => {
    assert.equal(partOf(["(idle)"]), null);
  });

  it("are checked against files that exist", () => {
    const files = stacks.flatMap(([, stack]) => stack).map((name) => name.split(":")[0] ?? "");
    const ours = files.filter((file) => /^(server|actors|node_modules)\//.test(file));
    assert.deepEqual(
      ours.filter((file) => !existsSync(join(root, file))),
      [],
    );
  });
});
