import { playGame } from "../bots/game.ts";
import { ownAddresses } from "../needs.ts";
import { defineScenario } from "../scenario.ts";

const seats = 4;

/** Whole games of four players and a spectator: join by code, pauses, one who leaves and returns. */
export const scenario = defineScenario({
  about: "whole games of four players and a spectator",
  load: { shape: "poisson", perSecond: 3, seconds: 60 },
  besidesSeconds: 22,
  settleSeconds: 60,
  needs: [ownAddresses("/v1/gateway/guest", ({ perMinute }) => perMinute * seats)],
  budgets: [
    "answer errors <= 0.1 %",
    "answer response p90 <= 100 ms",
    "answer to last subscriber p90 <= 150 ms",
    "first question p90 <= 1 s",
    "reconnect p50 <= 250 ms",
    "unfinished <= 0",
    "dropped <= 0",
  ],
  async setup() {},
  arrive: (_, arrival) =>
    playGame(arrival, { seats, questions: 4, timer: 20, thinkMs: [300, 1500] }),
});
