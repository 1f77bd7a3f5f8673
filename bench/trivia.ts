import { sql } from "kysely";
import { createOrm } from "../db/orm.ts";
import { rowsOf } from "../db/queries/rows.ts";
import type { Service } from "../test/support/process.ts";
import { enter } from "./guests.ts";
import { openFor } from "./lobby/field.ts";
import { requestText, type Job } from "./load.ts";
import { postgresPid } from "./postgres.ts";
import { comparedTable, measureRequests, startEcho, type Compared } from "./requests.ts";
import type { Scenarios } from "./floor-scenario.ts";
import { pidsOf, withService } from "./service.ts";

const connections = 64;
const base = "/v1/games/trivia/questions";

export const scenarios: Scenarios = {
  all: {
    about: "questions drawn and answered in practice",
    run: async ({ isQuick }) => {
      const seconds = isQuick ? 2 : 10;
      const lines = await withService(1, (service) => measureAll(service, seconds));
      return [comparedTable(`trivia: ${connections} connections, ${seconds} s each`, lines)];
    },
  },
};

async function measureAll(service: Service, seconds: number): Promise<Compared[]> {
  const orm = await createOrm({ DATABASE_URL: service.databaseUrl, DATABASE_POOL: 1 });
  const echo = await startEcho();
  try {
    const echoGet = await echo.measure({
      name: "raw echo GET",
      request: requestText("GET", "/"),
      connections,
      seconds,
    });
    const body = { selected_index: 1, time_taken_ms: 2_000 };
    const echoPost = await echo.measure({
      ...{ name: "raw echo POST", request: requestText("POST", "/", { body }) },
      connections,
      seconds,
    });
    const tokens = await enter(service.url, connections);
    const ids = await publicIds(orm.em.fork());
    const draws = tokens.map((token) => drawJob(token, "category=science&difficulty=medium"));
    const anyDraws = tokens.map((token) => drawJob(token, ""));
    const answers = answerJobs(tokens, ids);
    const generator = await openFor(service, connections);
    const pids = { ...(await pidsOf(service)), postgresPid: await postgresPid(orm.em.fork()) };
    const measure = (name: string, jobs: Job[]) =>
      measureRequests({ ...pids, name, generator, jobs, seconds });
    const drawn = await measure("draw, one category", draws);
    const anyDrawn = await measure("draw, any category, auto", anyDraws);
    const answered = await measure("answer, each for the first time", answers);
    generator.close();
    return [
      { row: echoGet, against: echoGet, limit: null },
      { row: drawn, against: echoGet, limit: null },
      { row: anyDrawn, against: echoGet, limit: null },
      { row: echoPost, against: echoPost, limit: null },
      { row: answered, against: echoPost, limit: null },
    ];
  } finally {
    await echo.stop();
    await orm.close(true);
  }
}

export async function publicIds(em: Parameters<typeof rowsOf>[0]): Promise<number[]> {
  const rows = await rowsOf<{ id: number }>(
    em,
    sql`select id from questions where pool = 'public' and retired_at is null order by random()`,
  );
  return rows.map(({ id }) => id);
}

const drawJob = (token: string, query: string): Job => ({
  request: requestText("GET", `${base}/draw?${query}`, {
    headers: { authorization: `Bearer ${token}` },
  }),
});

/** Each player answers every question once before repeating any, starting at a different one. */
export function answerJobs(tokens: readonly string[], ids: readonly number[]): Job[] {
  const step = Math.floor(ids.length / tokens.length);
  return tokens.map((token, n) => ({
    request: requestText("POST", `${base}/{value}/answer`, {
      headers: { authorization: `Bearer ${token}` },
      body: { selected_index: 1, time_taken_ms: 2_000 },
    }),
    values: [...ids.slice(n * step), ...ids.slice(0, n * step)].map(String),
  }));
}
