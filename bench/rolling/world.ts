import { setTimeout as pause } from "node:timers/promises";
import { stopsAtEnd } from "../../test/support/cleanup.ts";
import { eventually } from "../../test/support/eventually.ts";
import { insist } from "../../test/support/insist.ts";
import { note } from "../report.ts";
import type { RollingSizes } from "../floor-scenario.ts";
import { startBalancer, type BalancerName } from "./balancer.ts";
import { ControlGroup } from "./control-group.ts";
import { Followers } from "./followers.ts";
import { Games } from "./games.ts";
import { RollingInstance } from "./instances.ts";
import { createNetwork } from "./network.ts";
import { RequestLoad, type AskedRequest } from "./requests.ts";
import { startNetworkStores, type NetworkStores } from "./stores.ts";
import { ok, openLobby } from "./waiting-lobby.ts";

/** Streams on each lobby that waits and is changed once a second. */
const streamsPerLobby = 25;
const changeMs = 1_000;
const openedAtOnce = 20;

/** Two instances behind a balancer, with everything that their users do. */
export interface World {
  instances: readonly [RollingInstance, RollingInstance];
  stores: NetworkStores;
  requests: RequestLoad;
  followers: Followers;
  games: Games;
}

/** Starts all of it, lets `work` run, and ends it in order. */
export async function withWorld<T>(
  balancers: readonly BalancerName[],
  sizes: RollingSizes,
  work: (world: World) => Promise<T>,
): Promise<T> {
  const ends: (() => Promise<unknown> | void)[] = [];
  const stopAll = stopsAtEnd(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });
  try {
    const group = preferred();
    ends.push(() => group?.remove());
    const network = await createNetwork(2);
    ends.push(() => network.close());
    const stores = await startNetworkStores(network.address);
    ends.push(() => stores.close());
    const [one, two] = network.hosts.map(
      (host) => new RollingInstance(host, stores, network.address),
    );
    if (one === undefined || two === undefined) throw new Error("two hosts are needed");
    const instances = [one, two] as const;
    for (const instance of instances) {
      await instance.start();
      ends.push(() => instance.end());
    }
    const urls: string[] = [];
    for (const balancer of balancers) {
      const addresses = instances.map(({ host }) => host.address);
      const proxy = await startBalancer(balancer, addresses);
      ends.push(() => proxy.stop());
      urls.push(proxy.url);
    }
    const [url, ...others] = urls;
    if (url === undefined) throw new Error("a balancer is needed");
    note(`two instances behind ${balancers.join(" and ")}`);
    const followers = new Followers();
    ends.push(() => followers.close());
    const changing = await follow([url, ...others], followers, sizes.streams);
    ends.push(changing.stop);
    const requests = new RequestLoad(urls, changing.requests, sizes.perSecond);
    ends.push(() => requests.stop());
    const games = await Games.start([url, ...others], sizes.games);
    note(`${sizes.perSecond} requests/s, ${followers.size} streams, ${sizes.games} games`);
    return await work({ instances, stores, requests, followers, games });
  } finally {
    await stopAll();
  }
}

/** Everything that is measured, so that what runs beside it on this machine does not look like a fault. */
function preferred(): ControlGroup | null {
  try {
    const group = ControlGroup.make("world");
    group.prefer(4);
    group.add([process.pid]);
    return group;
  } catch (error) {
    note(`beside everything else on this machine: ${String(error)}`);
    return null;
  }
}

/** Opens the streams on lobbies that wait, with requests to them, and changes the settings of each lobby every second. */
async function follow(
  urls: readonly [string, ...string[]],
  followers: Followers,
  numStreams: number,
) {
  const [url] = urls;
  const numLobbies = Math.ceil(numStreams / streamsPerLobby);
  const opened = await Promise.all(Array.from({ length: numLobbies }, () => openLobby(url)));
  const topics = Array.from({ length: numStreams }, (_, n) => opened[n % opened.length]);
  for (let n = 0; n < topics.length; n += openedAtOnce)
    await Promise.all(
      topics.slice(n, n + openedAtOnce).map(async (lobby, i) => {
        if (lobby === undefined) return;
        const spectate = `${lobby.path}/spectate`;
        const hub = ok(await insist(url, { method: "POST", path: spectate }));
        const topic = lobby.path.replace("/v1", "").replace("lobbies", "lobby");
        await followers.add(
          urls[i % urls.length] ?? url,
          topic,
          String(hub.headers["x-hub-token"]),
        );
      }),
    );
  let isOver = false;
  const change = async ({ path, headers }: (typeof opened)[number]) => {
    for (let n = 0; !isOver; n++) {
      const body = { timer: n % 2 === 0 ? 20 : 30 };
      ok(await insist(url, { method: "PATCH", path: `${path}/settings`, headers, body }));
      await pause(changeMs, undefined, { ref: false });
    }
  };
  const changed = Promise.allSettled(opened.map(change));
  const requests = opened.flatMap(({ path, headers }): AskedRequest[] => [
    { method: "GET", path: "/v1/games/trivia/categories" },
    { method: "POST", path: "/v1/gateway/guest", body: "{}", needsPostgres: true },
    { method: "GET", path, headers },
    { method: "GET", path: "/v1/wallet/@me", headers, needsPostgres: true },
    { method: "POST", path: `${path}/heartbeat`, headers },
  ]);
  const stop = async () => {
    isOver = true;
    // Without its instances, after an interrupt, a change would be repeated for long.
    const ended = await Promise.race([changed, pause(changeMs, [], { ref: false })]);
    for (const one of ended) if (one.status === "rejected") note(String(one.reason));
  };
  return { requests, stop };
}

/** Resolves when every stream has received what the others of its lobby have, for a moment. */
export const untilFollowed = (followers: Followers): Promise<void> =>
  eventually("every stream is up to date", () => followers.lagging() === 0);
