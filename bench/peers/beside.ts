import { setTimeout as pause } from "node:timers/promises";
import type { Beside, Happened } from "../load/beside.ts";
import type { Summary } from "../load/histogram.ts";
import type { Operation } from "../report/schema.ts";
import type { RunResult } from "../rooms/generator.ts";
import { faultsText, withAll, withGenerator, type Run, type With } from "../rooms/side.ts";
import { peerNamed } from "./named.ts";

/** A room of a peer with its streams open. */
interface PeerRoom {
  name: string;
  run: Run;
}

/** The load of each room. */
interface PeerLoad {
  perSecond: number;
  streams: number;
  seed: number;
}

/**
 * Opens a room at each of these peers before `work`, which runs a scenario; `beside` brings its rate of commands to the
 * rooms during its load. The peers are a control like the floor: what the same change costs elsewhere on this machine.
 */
export function withPeers<T>(
  names: readonly string[],
  load: PeerLoad,
  work: (beside: (context: Beside) => Promise<Happened>) => Promise<T>,
): Promise<T> {
  const sizes = { lobbies: 1, streams: load.streams };
  const opened =
    (peer: string): With<PeerRoom, T> =>
    (use) =>
      peerNamed<T>(peer)((side) =>
        withGenerator(side, sizes, (run) => use({ name: side.name, run })),
      );
  return withAll(names.map(opened), (rooms) => work((context) => bringLoad(rooms, load, context)));
}

async function bringLoad(
  rooms: readonly PeerRoom[],
  { perSecond, seed }: PeerLoad,
  { startedAt, seconds }: Beside,
): Promise<Happened> {
  await pause(Math.max(0, startedAt - performance.now()));
  const results = await Promise.all(
    rooms.map(async ({ name, run }) => ({ name, result: await run({ perSecond, seconds, seed }) })),
  );
  return {
    faults: [],
    problems: results.flatMap(({ name, result }) => problemsOf(name, result)),
    peers: results.flatMap(({ name, result }) => operationsOf(name, result, seconds)),
  };
}

function problemsOf(name: string, result: RunResult): string[] {
  const text = faultsText([result]);
  return /[1-9]/.test(text) ? [`${name}: refused/lost/duplicated/misordered/closed ${text}`] : [];
}

function operationsOf(name: string, result: RunResult, seconds: number): Operation[] {
  const { answers, lastDeliveries, refused } = result;
  const operation = (what: string, response: Summary, failed: number): Operation => ({
    ...{ name: `${name}: ${what}`, count: response.count, failed, limited: 0 },
    ...{ perSecond: response.count / seconds, response, service: null },
  });
  return [
    operation("change", answers, refused),
    operation("to last subscriber", lastDeliveries, 0),
  ];
}
