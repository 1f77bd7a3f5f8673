import { proportionalKib } from "../processes.ts";
import type { Table } from "../report.ts";
import { byProcess, mapValues, sum, type Amounts } from "../rooms/amounts.ts";
import type { Side } from "../rooms/side.ts";

/** Resident memory in MiB by process role; pages shared by several processes are divided among them. */
export const memoryOf = (side: Side): Amounts =>
  mapValues(side.pids(), (pids) => proportionalKib(pids) / 1024);

export interface MemoryUse {
  /** Before the first lobby. */
  before: Amounts;
  /** After the last round, with its streams still open. */
  after: Amounts;
}

/** Memory added by the lobbies of a round and their streams, including garbage that is not collected yet. */
export function memoryTable(uses: ReadonlyMap<string, MemoryUse>, lobbies: number): Table {
  return {
    title: `everyday: MiB of memory before the first lobby and after the last round, with its ${lobbies} lobbies and their streams`,
    head: ["side", "before", "after", "added for each lobby", "added by process"],
    rows: [...uses].map(([side, { before, after }]) => {
      const added = Object.fromEntries(
        Object.entries(after).map(([name, value]) => [name, value - (before[name] ?? 0)]),
      );
      const each = (sum(added) / lobbies).toFixed(2);
      return [side, sum(before).toFixed(0), sum(after).toFixed(0), each, byProcess(added, 1, 0)];
    }),
  };
}
