import { Audience } from "../bots/audience.ts";
import { defineScenario } from "../scenario.ts";

const streams = 200;

/** A lobby for each generator process, with 200 spectators in all: how long until the last of them has a change. */
export const scenario = defineScenario({
  about: "changes of one lobby with 200 open streams",
  load: { shape: "poisson", perSecond: 10, seconds: 60 },
  besidesSeconds: 7,
  peerStreams: streams,
  budgets: [
    "change errors <= 0.1 %",
    "change response p90 <= 100 ms",
    "change to last subscriber p90 <= 250 ms",
    "dropped <= 0",
  ],
  setup: (run) => Audience.gather(run, run.share(streams)),
  arrive: (audience, { n, dueAt }) => audience.change(n, dueAt),
  teardown: (audience) => audience.close(),
});
