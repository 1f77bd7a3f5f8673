import { cookieHole, openGenerator, requestText } from "../load.ts";
import { comparedTable, measureRequests, startEcho } from "../requests.ts";
import type { Scenario } from "../floor-scenario.ts";
import { pidsOf, withService } from "../service.ts";
import { makeAccounts } from "./accounts.ts";

const connections = 32;

export const requests: Scenario = {
  about: "refreshes and authenticated reads against raw uWebSockets.js",
  async run({ isQuick }) {
    const seconds = isQuick ? 2 : 6;
    const echo = await startEcho(900);
    try {
      const headers = { authorization: `Bearer ${"x".repeat(300)}` };
      const given = { connections, seconds };
      const get = requestText("GET", "/", { headers });
      const post = requestText("POST", "/", { headers: { cookie: "x".repeat(400) } });
      const echoGet = await echo.measure({ ...given, name: "raw echo GET", request: get });
      const [validate, profile, refresh] = await measureService(seconds);
      // Sending to an idle client costs several times as much as to a busy one.
      const paced = (name: string, request: string, perSecond: number) =>
        echo.measure({ ...given, name, request, perSecond });
      const slowGet = await paced("raw echo GET, at that rate", get, profile.perSecond);
      const slowPost = await paced("raw echo POST, at that rate", post, refresh.perSecond);
      const lines = [
        { row: echoGet, against: echoGet, limit: null },
        { row: validate, against: echoGet, limit: null },
        { row: profile, against: slowGet, limit: null },
        { row: slowGet, against: slowGet, limit: null },
        { row: refresh, against: slowPost, limit: null },
        { row: slowPost, against: slowPost, limit: null },
      ];
      return [comparedTable(`identity: ${connections} connections, ${seconds} s each`, lines)];
    } finally {
      await echo.stop();
    }
  },
};

function measureService(seconds: number) {
  return withService(1, async (service) => {
    const accounts = await makeAccounts(service.url, connections);
    const { hostname, port } = new URL(service.url);
    const pids = await pidsOf(service);
    const generator = await openGenerator(hostname, Number(port), connections);
    const given = { generator, seconds, ...pids };
    const reads = (path: string) =>
      accounts.map(({ accessToken }) => ({
        request: requestText("GET", path, { headers: { authorization: `Bearer ${accessToken}` } }),
      }));
    const refreshes = accounts.map(({ cookie }) => ({
      request: requestText("POST", "/v1/gateway/refresh", { headers: { cookie: cookieHole } }),
      cookie,
    }));
    const validate = await measureRequests({
      ...given,
      name: "GET tokens/validate, no store",
      jobs: reads("/v1/tokens/validate"),
    });
    const profile = await measureRequests({
      ...given,
      name: "GET users/@me, one row read",
      jobs: reads("/v1/users/@me"),
    });
    const refresh = await measureRequests({
      ...given,
      name: "POST gateway/refresh, rotated and committed",
      jobs: refreshes,
    });
    generator.close();
    return [validate, profile, refresh] as const;
  });
}
