import type { Service } from "../../test/support/process.ts";
import { lobbyPeer } from "../peers/service.ts";
import { median, note, verdict } from "../report.ts";
import { measureRequests, type Measured } from "../requests.ts";
import type { Scenario } from "../floor-scenario.ts";
import { pidsOf, withService } from "../service.ts";
import { Audience } from "../streams/audience.ts";
import { anyPicks, connections, openFor, startGames } from "./field.ts";

const lobbyCount = 100;
const perLobby = 8;
const target = 0.7;

interface Round {
  alone: Measured;
  watched: Measured;
  /** Events per second over all streams. */
  delivered: number;
  wrong: number;
}

/** The same picks without streams, and with eight on every lobby. */
export const watched: Scenario = {
  about: "committed picks in lobbies that eight streams follow",
  async run({ isQuick }) {
    const seconds = isQuick ? 2 : 5;
    return withService(1, async (service) => {
      const rounds: Round[] = [];
      for (let n = 0; n < (isQuick ? 1 : 3); n++) rounds.push(await measureRound(service, seconds));
      const ratio = median(rounds.map((r) => r.watched.perSecond / r.alone.perSecond));
      const cells = (pick: "alone" | "watched") =>
        (["perSecond", "p50Ms", "p99Ms", "workerMicros", "redisMicros"] as const).map((key) =>
          median(rounds.map((round) => round[pick][key])).toFixed(key === "perSecond" ? 0 : 1),
        );
      const delivered = median(rounds.map((round) => round.delivered)).toFixed(0);
      const wrong = rounds.reduce((sum, round) => sum + round.wrong, 0);
      return [
        {
          title: `watched: ${lobbyCount} lobbies, ${connections} connections, one HTTP worker, median of ${rounds.length}`,
          head: [
            "streams per lobby",
            "picks/s",
            "p50 ms",
            "p99 ms",
            "worker us",
            "Redis us",
            "events delivered/s",
            "lost/duplicated/misordered",
            "rate vs 0 streams",
            "target",
          ],
          rows: [
            ["0", ...cells("alone"), "", "", "", ""],
            [
              String(perLobby),
              ...cells("watched"),
              delivered,
              String(wrong),
              ratio.toFixed(2),
              verdict(ratio, { limit: target, isLeast: true }),
            ],
          ],
        },
      ];
    });
  },
};

async function measureRound(service: Service, seconds: number): Promise<Round> {
  const seats = await startGames(service, lobbyCount);
  const generator = await openFor(service);
  const given = {
    generator,
    seconds,
    jobs: anyPicks(generator, seats),
    ...(await pidsOf(service)),
  };
  const alone = await measureRequests({ ...given, name: "0 streams" });
  const hosts = seats.slice(0, lobbyCount);
  const { peer, topics } = await lobbyPeer(service, hosts);
  const audience = await Audience.start(peer, topics);
  await audience.open(perLobby, { checks: "ids" });
  await audience.begin();
  const started = performance.now();
  const watchedRow = await measureRequests({ ...given, name: `${perLobby} streams` });
  const delivered = (await audience.counts()).numbered / ((performance.now() - started) / 1000);
  const { lost, doubled, disordered } = await audience.settle();
  await audience.stop();
  generator.close();
  note(`${delivered.toFixed(0)} events/s delivered`);
  return { alone, watched: watchedRow, delivered, wrong: lost + doubled + disordered };
}
