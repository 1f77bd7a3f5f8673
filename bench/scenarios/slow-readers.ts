import { setTimeout as sleep } from "node:timers/promises";
import { Audience } from "../bots/audience.ts";
import { defineScenario, type Run } from "../scenario.ts";

const numFast = 100;
const numSlow = 50;
/** A slow reader takes one event in this time, and far more come. */
const slowMs = 2_000;

/** A third of the streams is read far too slowly; the others must not wait for them, and memory must not grow. */
export const scenario = defineScenario({
  about: "changes of one lobby with 100 streams, beside 50 that are hardly read",
  load: { shape: "poisson", perSecond: 10, seconds: 60 },
  besidesSeconds: 10,
  budgets: [
    "change errors <= 0.1 %",
    "change response p90 <= 100 ms",
    "change to last subscriber p90 <= 250 ms",
    "dropped <= 0",
  ],
  async setup(run) {
    const audience = await Audience.gather(run, run.share(numFast));
    const leaving = new AbortController();
    const slow = Array.from({ length: run.share(numSlow) }, () =>
      readSlowly(run, audience.code, leaving.signal),
    );
    return { audience, leaving, slow };
  },
  arrive: ({ audience }, { n, dueAt }) => audience.change(n, dueAt),
  async teardown({ audience, leaving, slow }) {
    leaving.abort();
    await Promise.allSettled(slow);
    await audience.close();
  },
});

async function readSlowly(run: Run, code: string, signal: AbortSignal): Promise<void> {
  const spectator = await run.bot().client.spectate(code, { signal });
  for await (const _ of spectator.events({ signal }))
    await sleep(slowMs, undefined, { signal }).catch(() => undefined);
}
