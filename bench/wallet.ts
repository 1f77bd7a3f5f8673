import { createOrm } from "../db/orm.ts";
import { saveAwards } from "../db/queries/wallet/awards.ts";
import type { Service } from "../test/support/process.ts";
import { cpuMicros, treeMicros } from "./processes.ts";
import { enter } from "./guests.ts";
import { requestText } from "./load.ts";
import { openFor } from "./lobby/field.ts";
import { postgresPid } from "./postgres.ts";
import { note, verdict, type Table } from "./report.ts";
import { measureRequests } from "./requests.ts";
import { startRemote, type Remote } from "./rpc.ts";
import type { TransactionCalls } from "./peers/transactions.ts";
import type { Scenarios } from "./floor-scenario.ts";
import { pidsOf, withService } from "./service.ts";

/** The number of Postgres connections of one service process. */
const sessions = 10;
const rounds = 3;
export const award = {
  awardId: "id.award.bench",
  game: "bench",
  name: "Bench",
  emberValue: 10,
  repeatable: true,
  dailyLimit: null,
  clientClaimable: true,
  isActive: true,
};

export const scenarios: Scenarios = {
  all: {
    about: "awards against a minimal transaction",
    run: ({ isQuick }) => withService(1, (service) => measureAll(service, isQuick ? 2 : 6)),
  },
};

interface Row {
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  clientMicros: number;
  postgresMicros: number;
}

/** Interleaved, so that load of the machine affects both. */
async function measureAll(service: Service, seconds: number): Promise<Table[]> {
  const orm = await createOrm({ DATABASE_URL: service.databaseUrl, DATABASE_POOL: 1 });
  const bare = await startRemote<TransactionCalls>(
    new URL("./peers/transactions.ts", import.meta.url),
    {
      args: [service.databaseUrl],
    },
  );
  try {
    await saveAwards(orm.em.fork(), [award]);
    await bare.call("prepare");
    const tokens = await enter(service.url, sessions);
    const postgres = await postgresPid(orm.em.fork());
    const { pids } = await pidsOf(service);
    const measured: { bare: Row; awards: Row }[] = [];
    for (let round = 0; round < rounds; round++)
      measured.push({
        bare: await measureBare(bare, seconds, postgres),
        awards: await measureAwards(service, { tokens, seconds, pids, postgresPid: postgres }),
      });
    return [tableOf(measured, seconds)];
  } finally {
    await bare.stop();
    await orm.close(true);
  }
}

async function measureBare(
  bare: Remote<TransactionCalls>,
  seconds: number,
  postgres: number,
): Promise<Row> {
  await bare.call("run", { sessions, seconds: 1 });
  const before = [cpuMicros([bare.pid]), treeMicros(postgres)] as const;
  const ran = await bare.call("run", { sessions, seconds });
  const { count, p50Ms, p99Ms } = ran;
  const perSecond = count / ran.seconds;
  note(`bare transactions: ${perSecond.toFixed(0)}/s`);
  const clientMicros = (cpuMicros([bare.pid]) - before[0]) / count;
  const postgresMicros = (treeMicros(postgres) - before[1]) / count;
  return { perSecond, p50Ms, p99Ms, clientMicros, postgresMicros };
}

async function measureAwards(
  service: Service,
  given: { tokens: string[]; seconds: number; pids: number[]; postgresPid: number },
): Promise<Row> {
  const { tokens, ...rest } = given;
  const generator = await openFor(service, sessions);
  const jobs = tokens.map((token) => ({
    request: requestText("POST", "/v1/embers/@me/awards", {
      headers: { authorization: `Bearer ${token}` },
      body: { award_id: award.awardId, game: award.game },
    }),
  }));
  const row = await measureRequests({ ...rest, name: "awards", generator, jobs });
  generator.close();
  if ((row.statuses["201"] ?? 0) !== Object.values(row.statuses).reduce((a, b) => a + b, 0))
    throw new Error(`not every award was given: ${JSON.stringify(row.statuses)}`);
  return { ...row, clientMicros: row.workerMicros };
}

function tableOf(measured: readonly { bare: Row; awards: Row }[], seconds: number): Table {
  const rows = measured
    .map((pair) => ({ ...pair, ratio: pair.awards.perSecond / pair.bare.perSecond }))
    .toSorted((a, b) => a.ratio - b.ratio)
    .slice((rounds - 1) / 2, (rounds + 1) / 2)
    .flatMap(({ bare, awards, ratio }) => [
      line("update and insert, one transaction", bare),
      [
        ...line("award over HTTP", awards),
        ratio.toFixed(2),
        verdict(ratio, { limit: 0.6, isLeast: true }),
      ],
    ]);
  return {
    title: `wallet: ${sessions} concurrent, ${seconds} s each, median of ${rounds} rounds`,
    head: ["what", "per second", "p50 ms", "p99 ms", "client us", "Postgres us", "ratio", "target"],
    rows,
  };
}

const line = (name: string, row: Row): string[] => [
  ...[name, row.perSecond.toFixed(0), row.p50Ms.toFixed(1), row.p99Ms.toFixed(1)],
  ...[row.clientMicros.toFixed(0), row.postgresMicros.toFixed(0)],
];
