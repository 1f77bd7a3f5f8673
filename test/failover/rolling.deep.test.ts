import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import type { RollingSizes } from "../../bench/floor-scenario.ts";
import { countFailures, measureRolling, type MeasuredRun } from "../../bench/rolling/measure.ts";
import { steps, type RollingTimes } from "../../bench/rolling/steps.ts";
import { noNamespaces } from "../bench/namespaces.ts";
import { findProgram, proxyKind } from "../support/web-proxies.ts";

const sizes: RollingSizes = { perSecond: 50, streams: 100, games: 10, seconds: 3 };
/** Long enough for every limit that the steps are about: 2 s for a dead process, 5 s for a waiting command. */
const times: RollingTimes = {
  control: sizes.seconds * 1_000,
  settle: 3_000,
  linkDown: 10_000,
  postgresAway: 7_000,
  redisAway: 8_000,
};
const balancers = ["nginx", "HAProxy"] as const;

/** Why it cannot run here. */
function missing(): string | false {
  const absent = balancers.find((name) => findProgram(proxyKind(name)) === null);
  return absent === undefined ? noNamespaces() : `${absent} is missing`;
}

describe(
  "two instances on hosts of their own behind nginx and HAProxy",
  { skip: missing() },
  () => {
    let run: MeasuredRun;
    before(async () => {
      run = await measureRolling(balancers, sizes, times);
    });

    for (const { name } of steps)
      it(`lose nothing but what cannot be served: ${name}`, () => {
        const step = run.steps.find((one) => one.name === name);
        assert.ok(step);
        assert.deepEqual(countFailures(step.unexcused), []);
        assert.deepEqual(step.problems, []);
        assert.ok(step.requests.sent > 0);
      });

    it("keep every acknowledged command of the games", () => {
      const { violations, played, acknowledged } = run.games;
      assert.deepEqual(violations, []);
      assert.ok(played > 0);
      assert.ok(acknowledged > 0);
    });
  },
);
