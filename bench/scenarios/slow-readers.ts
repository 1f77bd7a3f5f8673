import { setTimeout as sleep } from "node:timers/promises";
import type { Spectator } from "../../server/web/client/emberline.ts";
import { Audience } from "../bots/audience.ts";
import { ownAddresses } from "../needs.ts";
import { defineScenario } from "../scenario.ts";

const numFast = 100;
const numSlow = 50;
/** A slow reader takes one event in this time, and far more come. */
const slowMs = 2_000;

/** A third of the streams is read far too slowly; the others must not wait for them, and memory must not grow. */
export const scenario = defineScenario({
  about: "changes of one lobby with 100 streams, beside 50 that are hardly read",
  load: { shape: "poisson", perSecond: 10, seconds: 60 },
  besidesSeconds: 10,
  needs: [ownAddresses("/v1/games/trivia/lobbies/AAAAAA/spectate", () => numFast + numSlow)],
  budgets: [
    "change errors <= 0.1 %",
    "change response p90 <= 100 ms",
    "change to last subscriber p90 <= 250 ms",
    "dropped <= 0",
  ],
  async setup(run) {
    const audience = await Audience.gather(run, run.share(numFast));
    const leaving = new AbortController();
    const { signal } = leaving;
    const opening = Array.from({ length: run.share(numSlow) }, () =>
      run.bot().client.spectate(audience.code, { signal }),
    );
    const slow = (await Promise.all(opening)).map((spectator) => readSlowly(spectator, signal));
    return { audience, leaving, slow };
  },
  arrive: ({ audience }, { n, dueAt }) => audience.change(n, dueAt),
  async teardown({ audience, leaving, slow }) {
    leaving.abort();
    await Promise.all(slow);
    await audience.close();
  },
});

/** Ends with the signal, or when the service gives the stream up. */
async function readSlowly(spectator: Spectator, signal: AbortSignal): Promise<void> {
  const read = async () => {
    for await (const _ of spectator.events({ signal })) await sleep(slowMs, undefined, { signal });
  };
  await read().catch(() => undefined);
}
