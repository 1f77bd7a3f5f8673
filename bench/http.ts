import { newPlayer } from "../test/support/player.ts";
import { besideTable, interleaved, type HttpLoad } from "./http-beside.ts";
import { requestText, type Job } from "./load.ts";
import {
  anyPicks,
  connections,
  echoPost,
  openFor,
  placedPicks,
  startGames,
} from "./lobby/field.ts";
import {
  comparedTable,
  measureRequests,
  startEcho,
  type Compared,
  type Echo,
  type Measured,
} from "./requests.ts";
import type { Scenarios } from "./floor-scenario.ts";
import { pidsOf, withService } from "./service.ts";
import type { Service } from "../test/support/process.ts";

const lobbyCount = 100;

/** Picks go to games that were started for the run, since a question is open for a minute only. */
const loads = {
  "public GET": { workers: 1, jobs: async () => gets("/v1/games/trivia/categories") },
  "authenticated GET": {
    workers: 1,
    jobs: async ({ url }) => {
      const player = await newPlayer(url, "Bench");
      return gets("/v1/tokens/validate", { authorization: `Bearer ${player.accessToken}` });
    },
  },
  "committed pick, local": {
    workers: 1,
    jobs: async (service, generator) => anyPicks(generator, await startGames(service, lobbyCount)),
  },
  "committed pick, forwarded": {
    workers: 2,
    jobs: async (service, generator) =>
      placedPicks(service, generator, await startGames(service, lobbyCount), false),
  },
} satisfies Record<string, HttpLoad>;

export const scenarios: Scenarios = {
  all: {
    about: "requests through the complete pipeline, and a committed lobby pick",
    async run({ isQuick }) {
      const seconds = isQuick ? 2 : 6;
      const echo = await startEcho();
      try {
        const lines = await measureAll(echo, seconds);
        return [comparedTable(`http: ${connections} connections, ${seconds} s each`, lines)];
      } finally {
        await echo.stop();
      }
    },
  },
  beside: {
    about: "the same requests in this and another checkout, in interleaved rounds",
    async run({ isQuick, rounds: { rounds, seconds, beside } }) {
      const sizes = isQuick ? { rounds: 1, seconds: 2 } : { rounds, seconds };
      const roots = beside === null ? [undefined] : [undefined, beside];
      return [besideTable(await interleaved(loads, roots, sizes, measure), sizes)];
    },
  },
};

const gets = (path: string, headers: Record<string, string> = {}): Job[] =>
  Array.from({ length: connections }, () => ({ request: requestText("GET", path, { headers }) }));

async function measureAll(echo: Echo, seconds: number): Promise<Compared[]> {
  const given = { connections, seconds };
  const headers = { authorization: `Bearer ${"x".repeat(300)}` };
  const get = requestText("GET", "/", { headers });
  const echoGet = await echo.measure({ ...given, name: "raw echo GET", request: get });
  const rawPost = await echo.measure({ ...given, name: "raw echo POST", request: echoPost });
  const measured = (name: keyof typeof loads, service: Service) =>
    measure(service, name, loads[name], seconds);
  const [publicGet, authedGet, local] = await withService(1, async (service) => [
    await measured("public GET", service),
    await measured("authenticated GET", service),
    await measured("committed pick, local", service),
  ]);
  const forwarded = await withService(2, (service) =>
    measured("committed pick, forwarded", service),
  );
  // Sending to an idle client costs several times as much as to a busy one, so the echo is also measured at
  // the rate of the committed picks.
  const pacedPost = await echo.measure({
    ...given,
    name: "raw echo POST, at the rate of local picks",
    request: echoPost,
    perSecond: local.perSecond,
  });
  return [
    { row: echoGet, against: echoGet, limit: null },
    { row: publicGet, against: echoGet, limit: 1.8 },
    { row: authedGet, against: echoGet, limit: 2 },
    { row: rawPost, against: rawPost, limit: null },
    { row: pacedPost, against: rawPost, limit: null },
    { row: local, against: pacedPost, limit: 3.5 },
    { row: forwarded, against: pacedPost, limit: null },
  ];
}

async function measure(
  service: Service,
  name: string,
  load: HttpLoad,
  seconds: number,
): Promise<Measured> {
  const generator = await openFor(service);
  try {
    const jobs = await load.jobs(service, generator);
    const pids = await pidsOf(service);
    return await measureRequests({ ...pids, name, generator, jobs, seconds });
  } finally {
    generator.close();
  }
}
