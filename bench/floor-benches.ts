import type { Scenarios } from "./floor-scenario.ts";

/** Benches whose result is a ratio to the floor, measured in the same run; `npm run bench -- floor` runs them. */
export const floorBenches: Record<
  string,
  { about: string; load: () => Promise<{ scenarios: Scenarios }> }
> = {
  http: {
    about: "the HTTP stack and a committed lobby pick against raw uWebSockets.js",
    load: () => import("./http.ts"),
  },
  codex: {
    about: "imports against a bare COPY, reads of the archive against raw uWebSockets.js",
    load: () => import("./codex/index.ts"),
  },
  leaderboard: {
    about: "leaderboards of a million players against bare commands of Redis and Postgres",
    load: () => import("./leaderboard.ts"),
  },
  trivia: {
    about: "questions drawn and answered against raw uWebSockets.js",
    load: () => import("./trivia.ts"),
  },
  wallet: {
    about: "awards against a bare transaction of Postgres",
    load: () => import("./wallet.ts"),
  },
  avatars: {
    about: "icons against constant bytes; uploads to the moderation decision",
    load: () => import("./avatars.ts"),
  },
  projection: {
    about: "rebuilds of the typed rows against TRUNCATE+INSERT, effect on readers, list reads",
    load: () => import("./projection/index.ts"),
  },
  database: {
    about: "requests that query Postgres, in this and another checkout, interleaved",
    load: () => import("./database/index.ts"),
  },
  hub: {
    about: "event streams against raw uWebSockets.js and, where installed, Nchan",
    load: () => import("./hub/index.ts"),
  },
  identity: {
    about:
      "logins against bare argon2, refreshes, reads during logins, responses for unknown addresses",
    load: () => import("./identity/index.ts"),
  },
  lobby: {
    about: "lobby commands: committed, forwarded, with subscribers; memory of idle lobbies",
    load: () => import("./lobby/index.ts"),
  },
  operator: {
    about: "operator pages over many failed jobs, groups and rooms; an open overview; memory",
    load: () => import("./operator.ts"),
  },
  rolling: {
    about: "two instances behind a balancer while each is restarted, drained, upgraded, or fails",
    load: () => import("./rolling/index.ts"),
  },
  service: {
    about: "an idle service by process: processor, wake-ups, memory; starts and restarts",
    load: () => import("./service/index.ts"),
  },
};
