import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import {
  Emberline,
  type Clock,
  type LobbyEvent,
  type Seat,
} from "../../../../server/web/client/emberline.ts";
import { startApp, type App } from "../../../support/app.ts";
import { eventually } from "../../../support/eventually.ts";
import { startProxy, type Proxy } from "../../../support/proxy.ts";

const [slowReadMs, lagMs, freshMs] = [2_000, 5_000, 15_000];
/** The first pause between two connections. */
const pauseMs = 1_500;

/** A real clock that can jump ahead; these waits end on request of the test. */
function jumpingClock() {
  let aheadMs = 0;
  const held = new Map<number, Set<() => void>>(
    [pauseMs, slowReadMs, lagMs].map((ms) => [ms, new Set()]),
  );
  const clock: Clock = {
    now: () => Date.now(),
    elapsed: () => performance.now() + aheadMs,
    random: () => 0.5,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        // A deadline is a little shorter than its limit.
        const waits = held.get(Math.ceil(ms / 100) * 100);
        const timer = waits ? undefined : setTimeout(resolve, ms);
        waits?.add(resolve);
        const wake = () => {
          clearTimeout(timer);
          waits?.delete(resolve);
          resolve();
        };
        signal?.addEventListener("abort", wake);
        if (signal?.aborted) wake();
      }),
  };
  const end = (ms: number) => held.get(ms)?.forEach((resolve) => resolve());
  const isHeld = (ms: number) => (held.get(ms)?.size ?? 0) > 0;
  return { clock, jump: (ms: number) => (aheadMs += ms), end, isHeld };
}

let app: App;
let proxy: Proxy;
let host: Seat;

/** A player whose streams go through the proxy; `areReadsHeld`: reads of the lobby never end. */
async function sitBehindProxy() {
  const time = jumpingClock();
  const connections: { lastEventId: string | null; isLeft: boolean }[] = [];
  /** Connections in use whenever one was accepted. */
  const inUse: number[] = [];
  const reads = { areHeld: false, count: 0 };
  const routed: typeof fetch = async (input, init) => {
    const address = String(input);
    if (address.endsWith("/status")) {
      reads.count += 1;
      if (reads.areHeld) return failWithSignal(init?.signal);
    }
    if (!address.includes("/v1/hub")) return fetch(address, init);
    const connection = {
      lastEventId: new Headers(init?.headers).get("Last-Event-ID"),
      isLeft: false,
    };
    connections.push(connection);
    init?.signal?.addEventListener("abort", () => (connection.isLeft = true));
    const response = await fetch(address.replace(app.url, `http://127.0.0.1:${proxy.port}`), init);
    inUse.push(connections.filter(({ isLeft }) => !isLeft).length);
    return response;
  };
  const client = new Emberline({ url: app.url, clock: time.clock, fetch: routed });
  const seat = await client.join(host.code, "Grace");
  const [states, seen]: [string[], LobbyEvent[]] = [[], []];
  const stop = new AbortController();
  const follow = async () => {
    const options = { signal: stop.signal, onState: (state: string) => void states.push(state) };
    for await (const event of seat.events(options)) seen.push(event);
  };
  const followed = follow();
  await eventually("the first snapshot", () => seen.length > 0);
  return {
    client,
    seat,
    time,
    connections,
    inUse,
    reads,
    states,
    seqs: () => seen.map(({ seq }) => seq),
    leave: () => {
      stop.abort();
      return followed;
    },
  };
}

const failWithSignal = (signal: AbortSignal | null | undefined) =>
  new Promise<never>((_, reject) =>
    signal?.addEventListener("abort", () => reject(new DOMException("aborted", "AbortError"))),
  );

type Player = Awaited<ReturnType<typeof sitBehindProxy>>;

/** Publishes an event that does not pass the connection. */
async function change(timer: number): Promise<number> {
  await host.settings({ timer });
  return (await host.read()).lobby.seq;
}

const hasSeen = ({ seqs }: Player, seq: number) =>
  eventually(`event ${seq}`, () => seqs().at(-1) === seq);

/** Every event once and in order, over two connections of which the second came first. */
function assertReplaced({ seqs, connections, inUse }: Player) {
  const [first = 0, ...rest] = seqs();
  assert.deepEqual(
    rest,
    rest.map((_, i) => first + i + 1),
  );
  assert.equal(connections.length, 2);
  assert.deepEqual(inUse, [1, 2], "the old one is left once the new one is open");
  assert.deepEqual(
    connections.map(({ isLeft }) => isLeft),
    [true, false],
  );
}

describe("a client that wakes on dead connections", () => {
  let player: Player;
  before(async () => {
    app = await startApp();
  });
  after(() => app.stop());
  beforeEach(async () => {
    proxy = await startProxy({ port: Number(new URL(app.url).port), host: "127.0.0.1" });
    host = await new Emberline({ url: app.url }).create({ hostName: "Ada" });
    player = await sitBehindProxy();
  });
  afterEach(async () => {
    await player.leave();
    await proxy.stop();
  });

  it("replaces a connection on which nothing came for 15 s", async () => {
    proxy.silence();
    const seq = await change(20);
    player.time.jump(freshMs);
    player.seat.resumeNow();
    await hasSeen(player, seq);
    await hasSeen(player, await change(30));
    assertReplaced(player);
  });

  it("replaces a connection that is behind a read of the lobby", async () => {
    proxy.silence();
    await change(20);
    const seq = await change(30);
    player.client.resumeNow();
    await hasSeen(player, seq);
    assertReplaced(player);
  });

  it("replaces a connection when a read takes more than 2 s", async () => {
    proxy.silence();
    const seq = await change(20);
    player.reads.areHeld = true;
    player.seat.resumeNow();
    await eventually("the read waits", () => player.time.isHeld(slowReadMs));
    assert.equal(player.connections.length, 1);
    player.time.end(slowReadMs);
    player.time.jump(slowReadMs);
    await hasSeen(player, seq);
    assertReplaced(player);
  });

  it("keeps a connection that is alive, after one read for several wakes at once", async () => {
    const before = player.reads.count;
    for (let i = 0; i < 3; i++) player.client.resumeNow();
    await eventually("the lobby is read", () => player.reads.count > before);
    await hasSeen(player, await change(20));
    assert.equal(player.reads.count, before + 1);
    assert.equal(player.connections.length, 1);
  });

  it("does not wait out a pause between two connections", async () => {
    const { port } = proxy;
    await proxy.stop();
    await eventually("it pauses", () => player.time.isHeld(pauseMs));
    proxy = await startProxy({ port: Number(new URL(app.url).port), host: "127.0.0.1" });
    assert.notEqual(proxy.port, port);
    const seq = await change(20);
    player.client.resumeNow();
    await hasSeen(player, seq);
  });

  it("says when its stream is more than 5 s behind the lobby, and when it has caught up", async () => {
    proxy.silence();
    const seq = await change(20);
    await player.seat.read();
    await eventually("the stream is watched", () => player.time.isHeld(lagMs));
    assert.equal(player.states.at(-1), "open");
    player.time.end(lagMs);
    await eventually("it is reported", () => player.states.at(-1) === "behind");
    player.seat.resumeNow();
    await hasSeen(player, seq);
    await eventually("it has caught up", () => player.states.at(-1) === "open");
  });
});
