import type { Service } from "../../test/support/process.ts";
import { pollUntil, quantile } from "../polling.ts";
import { openReader } from "../raw-request.ts";
import { verdict, type Table } from "../report.ts";
import { warmUpSeconds } from "../requests.ts";
import { game, historyStart, lastEarlyPatch } from "./game.ts";

const base = `/v1/codex/${game}`;
const rounds = 60;

/**
 * Filtered lists, changelogs and a diff over the whole long history: first read and repeated read (A6, A7).
 */
export async function measureReads(service: Service, distance: number): Promise<Table> {
  const reader = await openReader(service.url);
  const at = (path: string) => base + path;
  const timeRead = async (path: string): Promise<number> => {
    const started = performance.now();
    await reader.read(path);
    return performance.now() - started;
  };
  const timeReads = async (path: (n: number) => string, count = rounds): Promise<number> => {
    const times: number[] = [];
    for (let n = 0; n < count; n++) times.push(await timeRead(path(n)));
    return quantile(times, 0.5);
  };
  const filtered = (n: number) => at(`/item?filter[data.level]:gte=${n}&limit=50`);
  const later = (n: number) => at(`/item?filter[data.level]:gte=3&limit=50&cursor=${900 + 50 * n}`);
  const warmUntil = performance.now() + warmUpSeconds * 1_000;
  // Filters by another field, so that the measured reads are still first reads.
  for (let n = 1; performance.now() < warmUntil; n++)
    await timeRead(at(`/item?filter[data.power]:gte=0&limit=50&cursor=${n}`));
  const search = (n: number) => at(`/item?q=number+${n}`);
  const step = (n: number) => at(`/changelog?from=1.2&to=1.3&limit=${100 - (n % rounds)}`);
  const rows: [name: string, ms: number, limit: number | null][] = [
    ["A6 filtered list and count, first read", await timeReads(filtered), 20],
    ["A6 filtered list and count, repeated", await timeReads(filtered), 2],
    ["A6 later pages, first read", await timeReads(later), 2],
    ["search, first read", await timeReads(search), 20],
    ["A7 changelog of 400 entities, first read", await timeReads(step, 20), 40],
    ["A7 changelog, repeated", await timeReads(() => step(0), 20), 1],
  ];
  const apart = at(`/diff?from=1.${lastEarlyPatch}&to=1.${historyStart + distance}`);
  const diff = timeRead(apart);
  const others = await pollUntil(
    diff,
    service,
    () => at("/id.item.n9"),
    (body) => (body as { id: string }).id,
  );
  rows.push([`A7 diff ${distance} patches apart, first read`, await diff, 1_500]);
  rows.push(["A7 longest wait of another reader during the diff", Math.max(...others.times), 50]);
  rows.push(["A7 diff, repeated", await timeReads(() => apart, 5), null]);
  reader.close();
  return {
    title: "sequential reads over HTTP, medians",
    head: ["read", "ms", "target"],
    rows: rows.map(([name, ms, limit]) => [
      name,
      ms.toFixed(2),
      limit === null ? "" : verdict(ms, { limit, unit: " ms" }),
    ]),
  };
}
