import type { Service } from "../test/support/process.ts";
import { openGenerator, requestText } from "./load.ts";
import { measureRequests, startEcho, type Compared, type Measured } from "./requests.ts";

export const connections = 64;

/** The part of the rate of constant bytes that is aimed at. */
export interface ReadAims {
  body: number;
  known: number;
}

/** A read that is kept in memory, and the same with its tag, against raw answers of the same size. */
export async function compareRead(
  service: Service,
  seconds: number,
  read: { name: string; path: string },
  aims: ReadAims,
): Promise<Compared[]> {
  const answer = await fetch(service.url + read.path);
  const etag = answer.headers.get("etag") ?? "";
  const { length } = await answer.text();
  const echo = await startEcho(length);
  const ceiling = await echo.measure({
    name: `raw echo, ${length} bytes`,
    request: requestText("GET", "/"),
    connections,
    seconds,
  });
  await echo.stop();
  const known = { "if-none-match": etag };
  const { name, path } = read;
  return [
    { row: ceiling, against: ceiling, limit: null },
    {
      row: await measure(service, seconds, { name, path }, {}),
      against: ceiling,
      limit: null,
      leastRate: aims.body,
    },
    {
      row: await measure(service, seconds, { name: `${name}, 304`, path }, known),
      against: ceiling,
      limit: null,
      leastRate: aims.known,
    },
  ];
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
