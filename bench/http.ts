import { newPlayer } from "../test/support/player.ts";
import { requestText } from "./load.ts";
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
import type { Scenarios } from "./scenario.ts";
import { pidsOf, withService } from "./service.ts";

const lobbyCount = 100;

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
};

async function measureAll(echo: Echo, seconds: number): Promise<Compared[]> {
  const given = { connections, seconds };
  const headers = { authorization: `Bearer ${"x".repeat(300)}` };
  const get = requestText("GET", "/", { headers });
  const echoGet = await echo.measure({ ...given, name: "raw echo GET", request: get });
  const rawPost = await echo.measure({ ...given, name: "raw echo POST", request: echoPost });
  const { publicGet, authedGet, local } = await measureOneWorker(seconds);
  const forwarded = await measureForwarded(seconds);
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
    { row: authedGet, against: echoGet, limit: 1.8 },
    { row: rawPost, against: rawPost, limit: null },
    { row: pacedPost, against: rawPost, limit: null },
    { row: local, against: pacedPost, limit: 3 },
    { row: forwarded, against: pacedPost, limit: null },
  ];
}

function measureOneWorker(seconds: number) {
  return withService(1, async (service) => {
    const generator = await openFor(service);
    const given = { generator, seconds, ...(await pidsOf(service)) };
    const gets = (path: string, headers: Record<string, string> = {}) =>
      Array.from({ length: connections }, () => ({
        request: requestText("GET", path, { headers }),
      }));
    const player = await newPlayer(service.url, "Bench");
    const headers = { authorization: `Bearer ${player.accessToken}` };
    const publicGet = await measureRequests({
      ...given,
      name: "public GET",
      jobs: gets("/v1/games/trivia/categories"),
    });
    const authedGet = await measureRequests({
      ...given,
      name: "authenticated GET",
      jobs: gets("/v1/tokens/validate", headers),
    });
    const jobs = anyPicks(generator, await startGames(service, lobbyCount));
    const local = await measureRequests({ ...given, name: "committed pick, local", jobs });
    generator.close();
    return { publicGet, authedGet, local };
  });
}

function measureForwarded(seconds: number): Promise<Measured> {
  return withService(2, async (service) => {
    const generator = await openFor(service);
    const jobs = await placedPicks(
      service,
      generator,
      await startGames(service, lobbyCount),
      false,
    );
    const pids = await pidsOf(service);
    const given = { generator, jobs, seconds, ...pids };
    const row = await measureRequests({ ...given, name: "committed pick, forwarded" });
    generator.close();
    return row;
  });
}
