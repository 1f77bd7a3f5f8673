import { setTimeout as pause } from "node:timers/promises";
import { stopsAtEnd } from "../../test/support/cleanup.ts";
import { eventually } from "../../test/support/eventually.ts";
import { insist } from "../../test/support/insist.ts";
import { cpuMicros, treePids } from "../processes.ts";
import { median, note, verdict, type Table } from "../report.ts";
import { startBalancer } from "./balancer.ts";
import { RollingInstance } from "./instances.ts";
import { createNetwork } from "./network.ts";
import { ControlGroup } from "./control-group.ts";
import { startNetworkStores } from "./stores.ts";
import { ok, openLobby, type WaitingLobby } from "./waiting-lobby.ts";

/** Of one core, so that the stores and the load have time on two. */
const share = 0.15;
const maxInstances = 3;
/** Each has a host that sends its next command when it has its answer. */
const numLobbies = 150;
const warmUpMs = 5_000;
/** Least commands/s to those of one instance. */
const leastRatios: Readonly<Record<number, number>> = { 2: 1.8, 3: 2.5 };

interface Rung {
  instances: number;
  perSecond: number;
  /** Processor time of all instances, and of Redis, for one command. */
  instanceMicros: number;
  redisMicros: number;
  /** Share of the periods in which the instances had used up their quota. */
  exhausted: number;
}

/**
 * Commands per second of one, two and three instances behind nginx, each with a share of a core. The ladder is
 * climbed up and down again, so that what the machine does meanwhile falls on every rung.
 */
export async function measureScale(seconds: number): Promise<Table[]> {
  const rungs: Rung[] = [];
  await withLadder(async (ladder) => {
    for (const count of [1, 2, 3, 3, 2, 1]) {
      await ladder.goTo(count);
      const rung = await ladder.measure(seconds);
      rungs.push(rung);
      note(`${count} instances: ${rung.perSecond.toFixed(0)} commands/s`);
    }
  });
  return [tableOf(rungs, seconds)];
}

function tableOf(rungs: readonly Rung[], seconds: number): Table {
  const of = (instances: number, figure: (rung: Rung) => number) =>
    median(rungs.filter((rung) => rung.instances === instances).map(figure));
  const single = of(1, ({ perSecond }) => perSecond);
  return {
    title: `rolling scale: committed commands of ${numLobbies} lobbies behind nginx, each instance at most ${share * 100} % of a core, twice ${seconds} s each`,
    head: [
      "instances",
      "commands/s",
      "to one",
      "target",
      "quota used up",
      "instances us",
      "Redis us",
    ],
    rows: [1, 2, 3].map((count) => {
      const perSecond = of(count, (rung) => rung.perSecond);
      const limit = leastRatios[count];
      return [
        String(count),
        perSecond.toFixed(0),
        `${(perSecond / single).toFixed(2)}x`,
        limit === undefined ? "" : verdict(perSecond / single, { limit, unit: "x", isLeast: true }),
        `${(100 * of(count, ({ exhausted }) => exhausted)).toFixed(0)} % of periods`,
        of(count, ({ instanceMicros }) => instanceMicros).toFixed(0),
        of(count, ({ redisMicros }) => redisMicros).toFixed(0),
      ];
    }),
  };
}

interface Ladder {
  /** Starts or stops instances until `count` run, and the rooms are spread over them. */
  goTo(count: number): Promise<void>;
  measure(seconds: number): Promise<Rung>;
}

async function withLadder(climb: (ladder: Ladder) => Promise<void>): Promise<void> {
  const ends: (() => Promise<unknown>)[] = [];
  const stopAll = stopsAtEnd(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });
  try {
    const network = await createNetwork(maxInstances);
    ends.push(() => network.close());
    const stores = await startNetworkStores(network.address);
    ends.push(() => stores.close());
    const env = { HTTP_WORKERS: "1", JOB_WORKERS: "0", SHUTDOWN_DELAY_SECONDS: "0" };
    const steps = network.hosts.map((host, n) => ({
      instance: new RollingInstance(host, stores, network.address, env),
      group: ControlGroup.make(String(n)),
    }));
    for (const { instance, group } of steps)
      ends.push(async () => {
        group.limit(null);
        await instance.end();
        await group.remove();
      });
    const running: typeof steps = [];
    const proxy = { url: "", stop: async () => {} };
    ends.push(() => proxy.stop());
    let lobbies: WaitingLobby[] = [];
    await climb({
      async goTo(count) {
        await proxy.stop();
        for (const step of running.splice(count)) await step.instance.stop();
        for (const step of steps.slice(running.length, count)) {
          await step.instance.start();
          step.group.add(treePids(step.instance.service.pid));
          running.push(step);
        }
        await eventually(
          `${count} instances share the rooms`,
          () => sharesAreEven(running),
          60_000,
        );
        const addresses = running.map(({ instance }) => instance.host.address);
        Object.assign(proxy, await startBalancer("nginx", addresses));
        if (lobbies.length > 0) return;
        lobbies = await Promise.all(Array.from({ length: numLobbies }, () => openLobby(proxy.url)));
      },
      async measure(seconds) {
        const pids = running.flatMap(({ instance }) => treePids(instance.service.pid));
        for (const { group } of running) group.limit(share);
        const load = new Commands(proxy.url, lobbies);
        await pause(warmUpMs);
        const before = [load.count, cpuMicros(pids), cpuMicros([stores.redisPid()])] as const;
        const periods = running.map(({ group }) => group.periods());
        const startedAt = performance.now();
        await pause(seconds * 1_000);
        const measuredSeconds = (performance.now() - startedAt) / 1_000;
        const numCommands = load.count - before[0];
        const instanceMicros = (cpuMicros(pids) - before[1]) / numCommands;
        const redisMicros = (cpuMicros([stores.redisPid()]) - before[2]) / numCommands;
        const exhausted = running.map(({ group }, n) => {
          const now = group.periods();
          const then = periods[n] ?? now;
          return (now.exhausted - then.exhausted) / Math.max(1, now.all - then.all);
        });
        for (const { group } of running) group.limit(null);
        await load.stop();
        return {
          ...{ instances: running.length, perSecond: numCommands / measuredSeconds },
          ...{ instanceMicros, redisMicros, exhausted: median(exhausted) },
        };
      },
    });
  } finally {
    await stopAll();
  }
}

/** Whether each instance owns at least nine tenths of its part of the shards. */
async function sharesAreEven(running: readonly { instance: RollingInstance }[]): Promise<boolean> {
  const owned = await Promise.all(
    running.map(async ({ instance: { service } }) => {
      const answer = await fetch(`${service.operatorUrl}/metrics`, {
        headers: { authorization: `Bearer ${service.operatorToken}` },
      });
      const shards = /^emberline_room_shards\{[^}]*kind="lobby"[^}]*\} (\d+)/m.exec(
        await answer.text(),
      );
      return Number(shards?.[1] ?? 0);
    }),
  );
  const all = owned.reduce((sum, one) => sum + one, 0);
  return all > 0 && owned.every((one) => one > (0.9 * all) / running.length);
}

/** The host of each lobby changes its settings as fast as it is answered. */
class Commands {
  count = 0;
  #isOver = false;
  readonly #ended: Promise<unknown>;

  constructor(url: string, lobbies: readonly WaitingLobby[]) {
    this.#ended = Promise.all(lobbies.map((lobby) => this.#send(url, lobby)));
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#ended;
  }

  async #send(url: string, { path, headers }: WaitingLobby): Promise<void> {
    for (let n = 0; !this.#isOver; n++) {
      const body = { timer: n % 2 === 0 ? 20 : 30 };
      ok(await insist(url, { method: "PATCH", path: `${path}/settings`, headers, body }));
      this.count += 1;
    }
  }
}
