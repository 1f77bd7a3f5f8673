import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import type { ImportReport } from "../../importers/pipeline/plan/import-plan.ts";
import { builtProgram } from "../../test/support/programs.ts";
import type { Service } from "../../test/support/process.ts";
import { verdict, type Table } from "../report.ts";

const maxSeconds = 30;

/** Imports every release of the package in `folder`, twice (A11). */
export async function measureReal(service: Service, folder: string): Promise<Table> {
  const first = await importAll(service, folder);
  const again = await importAll(service, folder);
  const row = (name: string, { seconds, patches, unchanged, changes }: Pass, target: string) => [
    name,
    `${seconds.toFixed(1)} s`,
    String(patches),
    String(changes),
    String(unchanged),
    target,
  ];
  return {
    title: "all releases of minecraft-data by npm run import, including its start",
    head: ["pass", "time", "patches", "changes", "unchanged", "target"],
    rows: [
      row("A11 first", first, verdict(first.seconds, { limit: maxSeconds, unit: " s" })),
      row("A11 again", again, verdict(again.changes, { limit: 0, unit: " changes" })),
    ],
  };
}

interface Pass {
  seconds: number;
  patches: number;
  changes: number;
  unchanged: number;
}

async function importAll(service: Service, folder: string): Promise<Pass> {
  const started = performance.now();
  const program = ["--max-semi-space-size=64", ...builtProgram("import")];
  const child = spawn(process.execPath, [...program, "minecraft", folder, "--json"], {
    env: { ...process.env, DATABASE_URL: service.databaseUrl, REDIS_URL: service.redisUrl },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, "close")]);
  if (code !== 0) throw new Error(`the import ended with ${code}`);
  const reports = output
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as ImportReport);
  const sum = (of: (report: ImportReport) => number) =>
    reports.reduce((total, report) => total + of(report), 0);
  return {
    seconds: (performance.now() - started) / 1000,
    patches: reports.length,
    changes: sum(({ added, changed, removed }) => added + changed + removed),
    unchanged: sum(({ unchanged }) => unchanged),
  };
}
