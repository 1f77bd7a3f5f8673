import { openSocket, read } from "../raw-request.ts";
import { percentileOrMax, Times } from "../load/histogram.ts";
import { verdict, type Table } from "../report.ts";
import type { Service } from "../../test/support/process.ts";
import { game, historyStart, lastEarlyPatch } from "./archive-game.ts";
import { millisOf } from "./in-turns.ts";

const base = `/v1/codex/${game}`;
const rounds = 60;
const warmUps = 500;

/** Filtered lists, changelogs and a diff over the whole long history: first read and repeated read (A6, A7). */
export async function measureReads(service: Service, distance: number): Promise<Table> {
  const [socket, other] = [await openSocket(service.url), await openSocket(service.url)];
  const timeReads = async (path: (n: number) => string, count = rounds): Promise<number> => {
    const times = new Times();
    for (let n = 0; n < count; n++)
      times.record(await millisOf(() => read(socket, base + path(n))));
    return percentileOrMax(times.summary(), 50);
  };
  const filtered = (n: number) => `/item?filter[data.level]:gte=${n}&limit=50`;
  const later = (n: number) => `/item?filter[data.level]:gte=3&limit=50&cursor=${900 + 50 * n}`;
  const search = (n: number) => `/item?q=number+${n}`;
  const step = (n: number) => `/changelog?from=1.2&to=1.3&limit=${100 - (n % rounds)}`;
  const apart = `/diff?from=1.${lastEarlyPatch}&to=1.${historyStart + distance}`;
  // Filters by another field, so that the measured reads are still first reads.
  await timeReads((n) => `/item?filter[data.power]:gte=0&limit=50&cursor=${n + 1}`, warmUps);
  const rows: [name: string, ms: number, limit: number][] = [
    ["A6 filtered list and count, first read", await timeReads(filtered), 20],
    ["A6 filtered list and count, repeated", await timeReads(filtered), 2],
    ["A6 later pages, first read", await timeReads(later), 2],
    ["search, first read", await timeReads(search), 20],
    ["A7 changelog of 400 entities, first read", await timeReads(step, 20), 40],
    ["A7 changelog, repeated", await timeReads(() => step(0), 20), 1],
  ];
  let isOver = false;
  const diff = millisOf(() => read(socket, base + apart)).finally(() => (isOver = true));
  const waits: number[] = [];
  while (!isOver) waits.push(await millisOf(() => read(other, `${base}/id.item.n9`)));
  rows.push(
    [`A7 diff ${distance} patches apart, first read`, await diff, 1_500],
    ["A7 longest wait of another reader during the diff", Math.max(...waits), 50],
  );
  for (const one of [socket, other]) one.destroy();
  return {
    title: "sequential reads over HTTP, medians",
    head: ["read", "ms", "target"],
    rows: rows.map(([name, ms, limit]) => [
      ...[name, ms.toFixed(2)],
      verdict(ms, { limit, unit: " ms" }),
    ]),
  };
}
