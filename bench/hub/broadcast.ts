import { silentLogger } from "../../server/platform/log/logger.ts";
import { connectRedis, redisReady } from "../../server/platform/redis/redis.ts";
import { publicListChannel } from "../../actors/lobby/keys.ts";
import { anyPicks, openFor, startGames } from "../lobby/field.ts";
import { median, verdict } from "../report.ts";
import { measureRequests, type Measured } from "../requests.ts";
import type { Scenario } from "../floor-scenario.ts";
import { pidsOf, withService } from "../service.ts";
import { Audience } from "../streams/audience.ts";
import { requireFiles } from "./servers.ts";

const streams = 4000;
const connections = 16;
const picksPerSecond = 400;
const changesPerSecond = 10;
const targetMs = 20;

/** Lobby commands while the public list is sent to thousands of streams, at most once a second. */
export const broadcast: Scenario = {
  about: "lobby commands while four thousand streams get the public list",
  async run({ isQuick }) {
    requireFiles(streams);
    const seconds = isQuick ? 4 : 10;
    return withService(1, async (service) => {
      const pids = await pidsOf(service);
      // Recreated each time, because idle connections are closed after ten seconds and questions after a
      // minute.
      const measure = async (name: string) => {
        const seats = await startGames(service, 20);
        const generator = await openFor(service, connections);
        const jobs = anyPicks(generator, seats);
        const given = { generator, jobs, seconds, perSecond: picksPerSecond, ...pids };
        const measured = await measureRequests({ ...given, name });
        generator.close();
        return measured;
      };
      const alone = await measure("picks alone");
      const audience = await openList(service.url, pids.pids);
      const redis = connectRedis(service.redisUrl, silentLogger, "bench");
      await redisReady(redis);
      await audience.begin();
      const timer = setInterval(
        () => void redis.publish(publicListChannel, ""),
        1000 / changesPerSecond,
      );
      const during: Measured[] = [];
      for (let n = 0; n < (isQuick ? 1 : 3); n++) during.push(await measure("picks and broadcast"));
      clearInterval(timer);
      const { lists } = await audience.counts();
      redis.disconnect();
      await audience.stop();
      const row = (name: string, measured: Measured[], rest: string[]) => [
        name,
        ...(["p50Ms", "p99Ms"] as const).map((key) => medianOf(measured, key).toFixed(2)),
        medianOf(measured, "workerMicros").toFixed(0),
        ...rest,
      ];
      return [
        {
          title: `broadcast: ${picksPerSecond} committed picks/s, ${streams} streams on the public list, whole service, one HTTP worker`,
          head: ["with", "p50 ms", "p99 ms", "worker us per pick", "lists per stream", "target"],
          rows: [
            row("picks alone", [alone], ["", ""]),
            row("picks and broadcast", during, [
              (lists / streams).toFixed(1),
              verdict(medianOf(during, "p99Ms"), { limit: targetMs, unit: " ms" }),
            ]),
          ],
        },
      ];
    });
  },
};

const medianOf = (all: Measured[], key: "p50Ms" | "p99Ms" | "workerMicros") =>
  median(all.map((one) => one[key]));

async function openList(url: string, pids: number[]): Promise<Audience> {
  const topic = "lobbies";
  const path = "/v1/hub?topic=/games/trivia/lobbies";
  const audience = await Audience.start(
    {
      name: "emberline",
      port: Number(new URL(url).port),
      target: { kind: "http", port: 0 },
      pids,
      storePids: [],
      readyText: "lobbies.updated",
      stream: () => ({ topic, path, headers: "" }),
      collect: async () => undefined,
      stop: async () => undefined,
    },
    [topic],
  );
  await audience.open(streams);
  return audience;
}
