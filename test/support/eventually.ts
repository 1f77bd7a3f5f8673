import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";

const waitLimitMs = 60_000;
const pauseMs = 25;

/** Polls for events without a notification, such as the end of a process that is not our child. */
export async function eventually(
  what: string,
  isTrue: () => Promise<boolean> | boolean,
  limitMs = waitLimitMs,
): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (!(await isTrue())) {
    assert.ok(performance.now() < deadline, `never happened: ${what}`);
    await sleep(pauseMs);
  }
}
