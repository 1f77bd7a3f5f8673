import type { Scenarios } from "./floor-scenario.ts";

/** Benches that bring their own load; `npm run bench -- floor` runs them. */
export const floorBenches: Record<string, { about: string; load: () => Promise<Scenarios> }> = {
  http: {
    about: "the HTTP stack and a committed lobby pick against raw uWebSockets.js",
    load: async () => (await import("./http.ts")).scenarios,
  },
  hub: {
    about: "event streams against raw uWebSockets.js and, where installed, Nchan",
    load: async () => (await import("./rooms/benches.ts")).hub,
  },
  lobby: {
    about: "lobby commands with their subscribers against a bare floor",
    load: async () => (await import("./rooms/benches.ts")).lobby,
  },
  micro: {
    about: "what cannot be seen over the network, or needs more data than a load test brings",
    load: async () => (await import("./micro/index.ts")).scenarios,
  },
  rolling: {
    about: "two instances behind a balancer while each is restarted, drained, upgraded, or fails",
    load: async () => (await import("./rolling/index.ts")).scenarios,
  },
};
