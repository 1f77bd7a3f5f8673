import { Counter, Gauge, Histogram, type Registry } from "prom-client";

/** Counters of one kind of actor. */
export interface ActorMetrics {
  commands: Counter<"type" | "outcome">;
  commitSeconds: Histogram;
  actors: Gauge;
  shards: Gauge;
  forwards: Counter<"outcome">;
}

/** What the names of the metrics of each kind end with. */
export const actorMetricNames = { commands: "_commands_total", actors: "_actors" } as const;

export function createActorMetrics(registry: Registry, kind: string): ActorMetrics {
  const registers = [registry];
  return {
    commands: new Counter({
      name: kind + actorMetricNames.commands,
      help: "Commands of actors by outcome",
      labelNames: ["type", "outcome"],
      registers,
    }),
    commitSeconds: new Histogram({
      name: `${kind}_commit_seconds`,
      help: "Time of one commit script",
      buckets: [0.0005, 0.001, 0.002, 0.005, 0.01, 0.05, 0.1, 1],
      registers,
    }),
    actors: new Gauge({
      name: kind + actorMetricNames.actors,
      help: "Actors in memory",
      registers,
    }),
    shards: new Gauge({ name: `${kind}_shards`, help: "Shards owned", registers }),
    forwards: new Counter({
      name: `${kind}_forwards_total`,
      help: "Commands sent to another process",
      labelNames: ["outcome"],
      registers,
    }),
  };
}
