import type { Report } from "../report/schema.ts";

/** A part of a run and how much of the processor it can use it used, 0 to 1. */
export interface Part {
  name: "worker" | "store" | "generator" | "machine";
  detail: string;
  share: number;
}

/** From here on waits grow quickly, so that the part counts as full. */
const fullShare = 0.8;

/** The parts of an own instance and its load, the fullest first. Redis runs its commands on one core. */
export function partsOf({ series, machine, target, generators, run }: Report): Part[] {
  const coresOf = (name: string): number => {
    const points = series.find((one) => one.unit === "cores" && one.name === name)?.points ?? [];
    return points.reduce((sum, [, value]) => sum + value, 0) / Math.max(1, points.length);
  };
  const workers = Number(target.settings["HTTP_WORKERS"] ?? machine.cores);
  const generator = Math.max(0, ...generators.map((one) => one.cpuSeconds / run.seconds));
  const parts: Part[] = [
    { name: "worker", detail: "HTTP workers", share: coresOf("HTTP worker") / workers },
    { name: "store", detail: "Redis", share: coresOf("Redis") },
    { name: "store", detail: "Postgres", share: coresOf("Postgres") / machine.cores },
    { name: "generator", detail: "generator", share: generator },
    {
      name: "machine",
      detail: "all processes of the machine",
      share: coresOf("machine, all processes") / machine.cores,
    },
  ];
  return parts.toSorted((a, b) => b.share - a.share);
}

/** One sentence: what was full when a budget broke. */
export function describeFull(report: Report): string {
  const [limit] = report.generatorLimits;
  if (limit !== undefined) return `The generator was full: ${limit}.`;
  const parts = partsOf(report);
  const used = ({ detail, share }: Part) => `${detail} ${(share * 100).toFixed(0)} %`;
  // The whole machine is full because of one of its parts, which says more.
  const full = parts.filter(({ share }) => share >= fullShare);
  const first = full.find(({ name }) => name !== "machine") ?? full[0];
  const all = parts.map(used).join(", ");
  if (!first) return `Nothing was full, so it waited: ${all}.`;
  return `The ${first.name} was full (${used(first)}): ${all}.`;
}
