import type { Scenarios } from "./floor-scenario.ts";

/** Benches that bring their own load; `npm run bench -- floor` runs them. */
export const floorBenches: Record<
  string,
  { about: string; load: () => Promise<{ scenarios: Scenarios }> }
> = {
  http: {
    about: "the HTTP stack and a committed lobby pick against raw uWebSockets.js",
    load: () => import("./http.ts"),
  },
  hub: {
    about: "event streams against raw uWebSockets.js and, where installed, Nchan",
    load: () => import("./hub.ts"),
  },
  lobby: {
    about: "lobby commands with their subscribers against a bare floor",
    load: () => import("./lobby/everyday.ts"),
  },
  micro: {
    about: "what cannot be seen over the network, or needs more data than a load test brings",
    load: () => import("./micro/index.ts"),
  },
  rolling: {
    about: "two instances behind a balancer while each is restarted, drained, upgraded, or fails",
    load: () => import("./rolling/index.ts"),
  },
};
