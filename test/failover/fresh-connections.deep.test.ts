import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { sourceFlags } from "../support/programs.ts";

const program = join(import.meta.dirname, "fresh-connections.ts");
const numConnections = 5_000;
/**
 * Linux itself resets, rarely, a connection whose handshake ends at the moment in which the listener closes
 * (server/runtime/README.md). No request was sent on it.
 */
const resetInHandshake = /^connect ECONNRESET /;
const mostInHandshake = 1;

/** Null if this user may not make a network namespace, or the system has no such setting. */
function missing(): string | null {
  const check = "ip link set lo up && echo 1 > /proc/sys/net/ipv4/tcp_migrate_req";
  try {
    execFileSync("unshare", ["-n", "sh", "-c", check], { stdio: "pipe" });
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const reason = missing();

test(
  "every accepted connection is served while workers drain, on a system that migrates connections",
  { skip: reason !== null && process.env["CI"] !== "true" && reason },
  () => {
    assert.equal(reason, null);
    const args = ["-n", process.execPath, ...sourceFlags, program, "1", String(numConnections)];
    const { failures, ...done } = JSON.parse(
      execFileSync("unshare", args, { encoding: "utf8" }),
    ) as {
      asked: number;
      drains: number;
      failures: string[];
    };
    assert.ok(done.asked >= numConnections && done.drains >= 4, JSON.stringify(done));
    const inHandshake = failures.filter((failure) => resetInHandshake.test(failure));
    assert.deepEqual(inHandshake.slice(mostInHandshake), []);
    assert.deepEqual(
      failures.filter((failure) => !inHandshake.includes(failure)),
      [],
    );
  },
);
