import { createOrm } from "../../db/orm.ts";
import { saveAwards } from "../../db/queries/wallet/awards.ts";
import type { Service } from "../../test/support/process.ts";
import { enter } from "../guests.ts";
import { makeAccounts } from "../identity/accounts.ts";
import { cookieHole, openGenerator, requestText, type Job } from "../load.ts";
import { postgresPid } from "../postgres.ts";
import { median, medianWithInterval, type Table } from "../report.ts";
import { measureRequests, type Measured } from "../requests.ts";
import type { Scenario, Scenarios } from "../floor-scenario.ts";
import { pidsOf, withService } from "../service.ts";
import { answerJobs, publicIds } from "../trivia.ts";
import { award } from "../wallet.ts";

const connections = 32;
/** A run uses up the refresh tokens and each player's first answers. */
const accountsPerRound = connections;

/** One kind of request; its jobs are recreated for each round if a run uses them up. */
interface Side {
  name: string;
  measure(request: string): Promise<Measured>;
}

const questions = "/v1/games/trivia/questions";
const requests = [
  "GET users/@me",
  "POST gateway/refresh",
  "POST embers/@me/awards",
  "GET draw, one category",
  "GET draw, any category",
  "POST answer, first time",
] as const;
type Request = (typeof requests)[number];

const beside: Scenario = {
  about: "requests that query Postgres, in this and another checkout, interleaved",
  run: async ({ rounds: { rounds, seconds, beside: root } }) => {
    const roots = root === null ? [undefined] : [undefined, root];
    const all = new Map(requests.map((request) => [request, [] as Measured[][]]));
    await withSides(roots, seconds, async (sides) => {
      for (let round = 0; round < rounds; round++)
        for (const [request, results] of all) {
          const order = round % 2 === 0 ? sides : sides.toReversed();
          const measured = new Map<Side, Measured>();
          for (const side of order) measured.set(side, await side.measure(request));
          results.push(sides.flatMap((side) => measured.get(side) ?? []));
        }
    });
    return [tableOf(all, { rounds, seconds })];
  },
};

export const scenarios: Scenarios = { beside };

/** Starts a service per checkout, each nested in the previous one. */
async function withSides(
  [root, ...others]: readonly (string | undefined)[],
  seconds: number,
  work: (sides: Side[]) => Promise<void>,
): Promise<void> {
  const add = async (service: Service): Promise<void> => {
    const orm = await createOrm({ DATABASE_URL: service.databaseUrl, DATABASE_POOL: 1 });
    try {
      await saveAwards(orm.em.fork(), [award]);
      const ids = await publicIds(orm.em.fork());
      const pids = { ...(await pidsOf(service)), postgresPid: await postgresPid(orm.em.fork()) };
      const jobs = jobsOf(service.url, ids);
      const { hostname, port } = new URL(service.url);
      const measure = async (request: string): Promise<Measured> => {
        const made = await jobs(request as Request);
        const generator = await openGenerator(hostname, Number(port), connections);
        const given = { ...pids, name: request, generator, jobs: made, seconds };
        return measureRequests(given).finally(() => generator.close());
      };
      const side = { name: root ?? "here", measure };
      await (others.length === 0
        ? work([side])
        : withSides(others, seconds, (rest) => work([side, ...rest])));
    } finally {
      await orm.close(true);
    }
  };
  await withService(1, add, {}, root);
}

function jobsOf(url: string, ids: readonly number[]) {
  let numAccounts = 0;
  const accounts = () => {
    const from = numAccounts;
    numAccounts += accountsPerRound;
    return makeAccounts(url, accountsPerRound, from);
  };
  const asPlayers = async (method: string, path: string, body?: unknown): Promise<Job[]> =>
    (await enter(url, connections)).map((token) => ({
      request: requestText(method, path, { headers: { authorization: `Bearer ${token}` }, body }),
    }));
  const jobFactories: Record<Request, () => Promise<Job[]>> = {
    "GET users/@me": async () =>
      (await accounts()).map(({ accessToken }) => ({
        request: requestText("GET", "/v1/users/@me", {
          headers: { authorization: `Bearer ${accessToken}` },
        }),
      })),
    "POST gateway/refresh": async () =>
      (await accounts()).map(({ cookie }) => ({
        request: requestText("POST", "/v1/gateway/refresh", { headers: { cookie: cookieHole } }),
        cookie,
      })),
    "POST embers/@me/awards": () =>
      asPlayers("POST", "/v1/embers/@me/awards", { award_id: award.awardId, game: award.game }),
    "GET draw, one category": () =>
      asPlayers("GET", `${questions}/draw?category=science&difficulty=medium`),
    "GET draw, any category": () => asPlayers("GET", `${questions}/draw`),
    "POST answer, first time": async () => answerJobs(await enter(url, connections), ids),
  };
  return (request: Request) => jobFactories[request]();
}

function tableOf(
  all: ReadonlyMap<Request, Measured[][]>,
  { rounds, seconds }: { rounds: number; seconds: number },
): Table {
  const of = (results: Measured[][], side: number, key: "workerMicros" | "postgresMicros") =>
    results.flatMap((one) => one[side]?.[key] ?? []);
  const rows = [...all].map(([request, results]) => {
    const cells = (["workerMicros", "postgresMicros"] as const).flatMap((key) => {
      const [own, others] = [of(results, 0, key), of(results, 1, key)];
      const ratios = others.map((other, round) => (own[round] ?? 0) / other);
      return [
        median(own).toFixed(0),
        others.length === 0 ? "" : median(others).toFixed(0),
        ratios.length === 0 ? "" : medianWithInterval(ratios, "x"),
      ];
    });
    return [request, ...cells];
  });
  return {
    title: `requests that query Postgres: ${connections} connections, ${rounds} interleaved rounds of ${seconds} s, medians`,
    head: ["request", "worker us", "other", "ratio", "Postgres us", "other", "ratio"],
    rows,
  };
}
