import assert from "node:assert/strict";
import { it } from "node:test";
import { pino } from "pino";
import { parseConfig } from "../../../../server/platform/config/config.ts";
import { createLogger } from "../../../../server/platform/log/logger.ts";
import {
  maxLinesPerWindow,
  sampleRepeatedLines,
} from "../../../../server/platform/log/log-sampling.ts";

interface Line {
  msg: string;
  level: number;
  suppressed?: number;
  store?: string;
}

function listen() {
  const lines: Line[] = [];
  return { lines, write: (line: string) => void lines.push(JSON.parse(line) as Line) };
}

it("writes a repeated warning ten times in ten seconds, then counts the suppressed lines", () => {
  let now = 0;
  const { lines, write } = listen();
  const log = pino({ hooks: sampleRepeatedLines(() => now) }, { write });
  for (now = 0; now < 25_000; now += 100) log.warn({ reason: "away" }, "store");
  assert.equal(lines.length, 3 * maxLinesPerWindow);
  assert.deepEqual(
    lines.flatMap(({ suppressed }) => suppressed ?? []),
    [100 - maxLinesPerWindow, 100 - maxLinesPerWindow],
  );
});

it("samples each warning and each subject separately", () => {
  const { lines, write } = listen();
  const log = createLogger(parseConfig({ LOG_LEVEL: "info" }), "test", { write });
  for (let n = 0; n < 100; n++) {
    log.warn({ store: "a" }, "away");
    log.error({ store: "b", err: new Error("no") }, "away");
    log.error({ route: "/v1/x" }, "failed");
  }
  assert.equal(lines.length, 3 * maxLinesPerWindow);
});

it("suppresses no operator actions, no information lines and no warnings without an event", () => {
  const { lines, write } = listen();
  const log = createLogger(parseConfig({ LOG_LEVEL: "info" }), "test", { write });
  for (let n = 0; n < 100; n++) {
    log.warn({ audit: true }, "operator action");
    log.info({ event: "login_locked" }, "security event");
    log.warn("a text alone");
  }
  assert.equal(lines.length, 300);
});

it("evicts the oldest entries when there are too many different warnings", () => {
  const { lines, write } = listen();
  const log = pino({ hooks: sampleRepeatedLines(() => 0) }, { write });
  for (let round = 0; round < maxLinesPerWindow + 1; round++)
    for (let n = 0; n <= 256; n++) log.warn({ store: n }, "away");
  assert.equal(lines.length, (maxLinesPerWindow + 1) * 257);
});
