import { cpuMicros } from "../processes.ts";
import { makeLobbies } from "../lobby/field.ts";
import { lobbyPeer } from "../peers/service.ts";
import { median, note, verdict } from "../report.ts";
import type { Scenario } from "../floor-scenario.ts";
import { withService } from "../service.ts";
import { Audience } from "../streams/audience.ts";
import type { Faults } from "../streams/reader.ts";
import { requireFiles } from "./servers.ts";

const lobbies = 500;
const perLobby = 8;
const eventsPerLobby = 10;
const targetMs = 2_000;

/** All clients reconnect at once, as after a proxy restart, and receive the missed events. */
export const storm: Scenario = {
  about: "four thousand streams that reconnect at the same moment",
  async run({ isQuick }) {
    const count = isQuick ? lobbies / 4 : lobbies;
    requireFiles(count * perLobby);
    const rounds = isQuick ? 1 : 5;
    return withService(1, async (service) => {
      const { peer, topics, numbers } = await lobbyPeer(
        service,
        await makeLobbies(service.url, count),
      );
      const audience = await Audience.start(peer, topics);
      audience.startFrom(numbers);
      const completes: number[] = [];
      const readies: number[] = [];
      const micros: number[] = [];
      const p50s: number[] = [];
      const p99s: number[] = [];
      const faults: Faults[] = [];
      await audience.open(perLobby);
      for (let n = 0; n < rounds; n++) {
        await audience.cut();
        await audience.publish({ seconds: 1, bytes: 300, perSecond: count * eventsPerLobby });
        await audience.begin();
        const cpu = cpuMicros(peer.pids);
        const { readyMs, completeMs } = await audience.return();
        micros.push((cpuMicros(peer.pids) - cpu) / (count * perLobby));
        const { openings } = await audience.counts();
        p50s.push(openings.at(0.5));
        p99s.push(openings.at(0.99));
        faults.push(await audience.settle());
        readies.push(readyMs);
        completes.push(completeMs);
        note(`complete after ${completeMs.toFixed(0)} ms`);
      }
      await audience.stop();
      const sum = (key: "lost" | "doubled" | "disordered" | "refused") =>
        faults.reduce((total, one) => total + one[key], 0);
      const wrong = (["lost", "doubled", "disordered", "refused"] as const).map(sum).join("/");
      return [
        {
          title: `storm: ${count * perLobby} streams of ${count} lobbies reconnect with their last id, ${eventsPerLobby} events missed by each, whole service, one HTTP worker`,
          head: [
            "server",
            "answer p50 ms",
            "answer p99 ms",
            "all answered ms",
            "all complete ms",
            "us per reconnect",
            "target",
            "lost/duplicated/misordered/refused",
          ],
          rows: [
            [
              peer.name,
              median(p50s).toFixed(0),
              median(p99s).toFixed(0),
              median(readies).toFixed(0),
              median(completes).toFixed(0),
              median(micros).toFixed(0),
              verdict(median(completes), { limit: targetMs, unit: " ms" }),
              wrong,
            ],
          ],
        },
      ];
    });
  },
};
