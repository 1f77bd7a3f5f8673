import { newPlayer } from "../test/support/player.ts";
import type { Service } from "../test/support/process.ts";
import { openGenerator, type ClosedGenerator } from "./closed/generator.ts";
import {
  comparedTable,
  measureRequests,
  startEcho,
  type Compared,
  type Measured,
} from "./closed/measure.ts";
import { requestText } from "./raw-request.ts";
import type { Scenarios } from "./floor-scenario.ts";
import { anyPicks, forwardedPicks, startGames } from "./lobby/field.ts";
import { projectedGame } from "./needs.ts";
import { pidsOf, withService } from "./service.ts";

const lobbyCount = 100;
const connections = 64;
const listPath = "/v2/items?limit=50";

/** Requests at saturation. Picks go to games that were started for the run: a question is open for a minute only. */
const loads = {
  "public GET": async () => gets("/v1/games/trivia/categories"),
  "authenticated GET": async ({ url }) => {
    const player = await newPlayer(url, "Bench");
    return gets("/v1/tokens/validate", { authorization: `Bearer ${player.accessToken}` });
  },
  "cached list of 50": async () => gets(listPath),
  "committed pick, local": async (service, generator) =>
    anyPicks(generator, await startGames(service, lobbyCount)),
  "committed pick, forwarded": async (service, generator) =>
    forwardedPicks(service, generator, await startGames(service, lobbyCount)),
} satisfies Record<
  string,
  (service: Service, generator: ClosedGenerator) => Promise<(string | null)[]>
>;

export const scenarios: Scenarios = {
  all: {
    about: "requests through the complete pipeline, and a committed lobby pick",
    async run({ isQuick }) {
      const seconds = isQuick ? 2 : 6;
      const title = `http: ${connections} connections, ${seconds} s each`;
      return [comparedTable(title, await measureAll(seconds))];
    },
  },
};

const gets = (path: string, headers: Record<string, string> = {}): string[] =>
  Array.from({ length: connections }, () => requestText("GET", path, { headers }));

async function measureAll(seconds: number): Promise<Compared[]> {
  const measured = (name: keyof typeof loads, service: Service) => measure(service, name, seconds);
  const [publicGet, authedGet, list, local, listBytes] = await withService(1, async (service) => {
    await projectedGame.provide(service);
    const text = await (await fetch(service.url + listPath)).text();
    return [
      await measured("public GET", service),
      await measured("authenticated GET", service),
      await measured("cached list of 50", service),
      await measured("committed pick, local", service),
      text.length,
    ];
  });
  const forwarded = await withService(2, (service) =>
    measured("committed pick, forwarded", service),
  );
  const [echo, listEcho] = await Promise.all([startEcho(), startEcho(listBytes)]);
  try {
    const given = { connections, seconds };
    const get = requestText("GET", "/", {
      headers: { authorization: `Bearer ${"x".repeat(300)}` },
    });
    const post = requestText("POST", "/", {
      headers: { "x-lobby-token": "x".repeat(300) },
      body: { selected_index: 1 },
    });
    const echoGet = await echo.measure({ ...given, name: "raw echo GET", request: get });
    const echoList = await listEcho.measure({
      ...{ ...given, request: get, name: `raw echo GET of ${listBytes} bytes` },
    });
    const rawPost = await echo.measure({ ...given, name: "raw echo POST", request: post });
    // Sending to an idle client costs several times as much as to a busy one, so the echo is also measured at
    // the rate of the committed picks.
    const pacedPost = await echo.measure({
      ...{ ...given, request: post, name: "raw echo POST, at the rate of local picks" },
      perSecond: local.perSecond,
    });
    return [
      { row: echoGet, against: echoGet, limit: null },
      { row: publicGet, against: echoGet, limit: 1.8 },
      { row: authedGet, against: echoGet, limit: 2 },
      { row: echoList, against: echoList, limit: null },
      { row: list, against: echoList, limit: 2 },
      { row: rawPost, against: rawPost, limit: null },
      { row: pacedPost, against: rawPost, limit: null },
      { row: local, against: pacedPost, limit: 3.5 },
      { row: forwarded, against: pacedPost, limit: null },
    ];
  } finally {
    await Promise.all([echo.stop(), listEcho.stop()]);
  }
}

async function measure(
  service: Service,
  name: keyof typeof loads,
  seconds: number,
): Promise<Measured> {
  const generator = await openGenerator(service.url, connections);
  try {
    const requests = await loads[name](service, generator);
    const given = { name, generator, requests, seconds, ...pidsOf(service) };
    return await measureRequests(given);
  } finally {
    await generator.stop();
  }
}
