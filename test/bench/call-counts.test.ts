import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { monitorCalls, parseRedisCounts, redisCounts } from "../../bench/redis-calls.ts";
import { startRedis } from "../../bench/stores.ts";
import { parseSummary } from "../../bench/system-calls.ts";
import { silentLogger } from "../../server/platform/log/logger.ts";
import { connectRedis, redisReady } from "../../server/platform/redis/redis.ts";

const info = [
  "# Commandstats",
  "cmdstat_evalsha:calls=12,usec=480,usec_per_call=40.00,rejected_calls=0,failed_calls=0",
  "cmdstat_client|setname:calls=2,usec=3,usec_per_call=1.50,rejected_calls=0,failed_calls=0",
  "# Stats",
  "total_net_input_bytes:4096",
  "total_reads_processed:9",
].join("\r\n");

const summary = `% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 61.20    0.012000           6      2000           epoll_pwait
 38.80    0.007600           3      2500       123 futex
  0.00    0.000000           0         1           read
------ ----------- ----------- --------- --------- ----------------
100.00    0.019600           4      4501       123 total
`;

describe("call counts", () => {
  it("are read from INFO by name", () => {
    assert.deepEqual(parseRedisCounts(info), {
      calls: { evalsha: 12, "client|setname": 2 },
      reads: 9,
      bytesReceived: 4096,
    });
  });

  it("are read from the table of strace, with and without errors", () => {
    assert.deepEqual(parseSummary(summary), { epoll_pwait: 2000, futex: 2500, read: 1 });
  });

  it("of a script are separate from the calls that a client sent", async () => {
    const store = await startRedis();
    const redis = connectRedis(store.url, silentLogger, "bench-test");
    try {
      await redisReady(redis);
      const before = await redisCounts(redis);
      const [, calls] = await monitorCalls(redis, async () => {
        await redis.set("a", "1");
        await redis.eval("return redis.call('GET', KEYS[1])", 1, "a");
      });
      const { calls: after, bytesReceived } = await redisCounts(redis);
      assert.deepEqual(calls.inScripts, { get: 1 });
      assert.deepEqual(calls.sent, { set: 1, eval: 1 });
      assert.equal(after["get"], (before.calls["get"] ?? 0) + 1);
      assert.ok(bytesReceived > before.bytesReceived);
    } finally {
      redis.disconnect();
      await store.stop();
    }
  });
});
