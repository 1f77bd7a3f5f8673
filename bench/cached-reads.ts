import type { Service } from "../test/support/process.ts";
import { openGenerator, requestText } from "./load.ts";
import { measureRequests, startEcho, type Compared, type Measured } from "./requests.ts";

export const connections = 64;

/** Targets, as a share of the rate of constant bytes. */
export interface ReadTargets {
  body: number;
  known: number;
}

const roundCount = 3;

/**
 * Compares a cached read, and the same read with its tag, with raw responses of the same size. Rounds are
 * interleaved; each reports the one with the median rate.
 */
export async function compareRead(
  service: Service,
  seconds: number,
  { name, path }: { name: string; path: string },
  targets: ReadTargets,
): Promise<Compared[]> {
  const { length } = (await readOnce(service, path)).text;
  const echo = await startEcho(length);
  const echoRow = {
    name: `raw echo, ${length} bytes`,
    request: requestText("GET", "/"),
    connections,
    seconds,
  };
  const rounds: Round[] = [];
  while (rounds.length < roundCount)
    rounds.push({
      ceiling: await echo.measure(echoRow),
      body: await measure(service, seconds, { name, path }, {}),
      known: await measure(
        service,
        seconds,
        { name: `${name}, 304`, path },
        // Read just before, because lists change after an import until every worker has noticed it.
        { "if-none-match": (await readOnce(service, path)).etag },
      ),
    });
  await echo.stop();
  const ceiling = medianOf(rounds, "ceiling");
  const compared = { against: ceiling, limit: null };
  return [
    { row: ceiling, ...compared },
    { row: medianOf(rounds, "body"), ...compared, leastRate: targets.body },
    { row: medianOf(rounds, "known"), ...compared, leastRate: targets.known },
  ];
}

async function readOnce(service: Service, path: string): Promise<{ etag: string; text: string }> {
  const answer = await fetch(service.url + path);
  return { etag: answer.headers.get("etag") ?? "", text: await answer.text() };
}

type Round = Record<"ceiling" | "body" | "known", Measured>;

function medianOf(rounds: readonly Round[], name: keyof Round): Measured {
  const sorted = rounds.map((round) => round[name]).sort((a, b) => a.perSecond - b.perSecond);
  return sorted[Math.floor(sorted.length / 2)] as Measured;
}

async function measure(
  service: Service,
  seconds: number,
  { name, path }: { name: string; path: string },
  headers: Record<string, string>,
): Promise<Measured> {
  const { hostname, port } = new URL(service.url);
  const generator = await openGenerator(hostname, Number(port), connections);
  const request = requestText("GET", path, { headers });
  const jobs = Array.from({ length: connections }, () => ({ request }));
  const pids = await service.workerPids();
  const row = await measureRequests({ name, generator, jobs, seconds, pids });
  generator.close();
  return row;
}
