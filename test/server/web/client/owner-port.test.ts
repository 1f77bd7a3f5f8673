import assert from "node:assert/strict";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { describe, it, type TestContext } from "node:test";
import { Emberline, type LobbyEvent, type Seat } from "../../../../server/web/client/emberline.ts";
import { eventually } from "../../../support/eventually.ts";
import { freePort } from "../../../support/free-port.ts";
import { answer, startFaulty, type Seen } from "./faulty-service.ts";

type Response = Parameters<Parameters<typeof startFaulty>[0]>[0];

const key = { code: "ABC234", token: "seat", playerId: 7 };
const lobby = (seq: number, status = "waiting") => ({
  code: "ABC234",
  seq,
  status,
  hub: { topic: "/games/trivia/lobby/ABC234" },
});
const frame = (type: string, seq: number, data: unknown) =>
  `id: ${seq}\nevent: ${type}\ndata: ${JSON.stringify({ type, seq, data })}\n\n`;
const spectators = (seq: number) => frame("lobby.spectators", seq, { spectator_count: seq });
const end = (seq: number) =>
  frame("lobby.ended", seq, { reason: "completed", lobby: lobby(seq, "finished") });

/** One port of a service with several workers. */
interface Worker {
  url: string;
  port: number;
  seen: Seen[];
  /** The owner's port in its responses. */
  named: number | null;
  /** Handles a stream; the default leaves it open. */
  hub: (response: Response, lastEventId: string | undefined) => void;
  /** Outcome of picks: a response, a broken connection, or no response. */
  picks: "answered" | "cut" | "hanging";
  stop: () => Promise<unknown>;
}

async function startWorker(t: TestContext): Promise<Worker> {
  const worker: Omit<Worker, "url" | "port" | "seen" | "stop"> = {
    named: null,
    hub: (response) => void response.write(":\n\n"),
    picks: "answered",
  };
  const service = await startFaulty((response, { path, lastEventId }) => {
    if (worker.named !== null) response.setHeader("X-Owner-Port", String(worker.named));
    if (path.startsWith("/v1/hub")) {
      response.writeHead(200, { "Content-Type": "text/event-stream" });
      worker.hub(response, lastEventId);
    } else if (path.endsWith("/status")) answer(response, 200, { body: { lobby: lobby(1) } });
    else if (path.endsWith("/token")) response.writeHead(204, { "X-Hub-Token": "hub" }).end();
    else if (path.endsWith("/pick")) {
      if (worker.picks === "answered") response.writeHead(204).end();
      if (worker.picks === "cut") response.destroy();
    } else answer(response, 200, { body: { ok: true } });
  });
  t.after(service.stop);
  return Object.assign(worker, service, { port: Number(new URL(service.url).port) });
}

/** The shared port, and the owner's port that its responses contain. */
async function startWorkers(t: TestContext): Promise<[shared: Worker, owner: Worker]> {
  const [shared, owner] = [await startWorker(t), await startWorker(t)];
  shared.named = owner.port;
  return [shared, owner];
}

const pick = (seat: Seat) => seat.pick({ index: 0, selected_index: 1 });
const picksAt = ({ seen }: Worker) => seen.filter(({ path }) => path.endsWith("/pick"));
const streamsAt = ({ seen }: Worker) => seen.filter(({ path }) => path.startsWith("/v1/hub"));

/** Reads the lobby, whose response contains the owner's port, and waits until calls go there. */
async function followed(seat: Seat, owner: Worker): Promise<void> {
  await eventually("the owner is asked", async () => {
    await seat.read();
    return owner.seen.some(({ path }) => path.endsWith("/status"));
  });
}

/** Collects events; `ended` resolves at the end of the stream. */
function listen(seat: Seat, lastEventId?: string) {
  const events: LobbyEvent[] = [];
  const states: string[] = [];
  const onState = (state: string) => void states.push(state);
  const read = async () => {
    const options = { onState, ...(lastEventId === undefined ? {} : { lastEventId }) };
    for await (const event of seat.events(options)) events.push(event);
  };
  return { events, states, ended: read() };
}

// They share nothing, and some wait for seconds.
describe("a client that follows the owner of a lobby", { concurrency: true }, () => {
  describe("goes to its port", () => {
    it("sends commands and opens the stream there, once an answer has named it", async (t) => {
      const [shared, owner] = await startWorkers(t);
      owner.hub = (response) => void response.write(spectators(2) + end(3));
      const seat = new Emberline({ url: shared.url }).seat(key);
      await followed(seat, owner);
      const [before, { ended }] = [shared.seen.length, listen(seat)];
      await pick(seat);
      await ended;
      assert.equal(shared.seen.length, before);
      assert.equal(picksAt(owner).length, 1);
      assert.equal(streamsAt(owner).length, 1);
    });

    it("asks at most once whether a port can be reached, for all its lobbies", async (t) => {
      const [shared, owner] = await startWorkers(t);
      const client = new Emberline({ url: shared.url });
      for (const code of ["ABC234", "ABC235", "ABC236"])
        await followed(client.seat({ ...key, code }), owner);
      const probes = owner.seen.filter(({ path }) => path === "/v1/health-check");
      assert.equal(probes.length, 1);
      assert.equal(probes[0]?.authorization, undefined);
    });

    it("moves an open stream with its lobby, without a loss, a double or a word", async (t) => {
      const [shared, first] = await startWorkers(t);
      const second = await startWorker(t);
      first.hub = (response) => void response.write(spectators(2) + spectators(3));
      const given: (string | undefined)[] = [];
      second.hub = (response, lastEventId) => {
        given.push(lastEventId);
        response.write(spectators(3) + spectators(4) + end(5));
      };
      const seat = new Emberline({ url: shared.url }).seat(key);
      await followed(seat, first);
      const { events, states, ended } = listen(seat);
      await eventually("both events are there", () => events.length === 2);
      first.named = second.port;
      // The client stays on the first port for at least a second.
      await eventually("the stream is at the second one", async () => {
        await pick(seat);
        return streamsAt(second).length === 1;
      });
      await ended;
      assert.deepEqual(
        events.map(({ seq }) => seq),
        [2, 3, 4, 5],
      );
      assert.deepEqual(given, ["3"]);
      assert.ok(!states.includes("lost"), String(states));
    });

    it("stays at the shared port when it is told to, and when nothing is named", async (t) => {
      const [shared, owner] = await startWorkers(t);
      const seat = new Emberline({ url: shared.url, followOwner: false }).seat(key);
      await seat.read();
      await pick(seat);
      shared.named = null;
      const other = new Emberline({ url: shared.url }).seat(key);
      await other.read();
      await pick(other);
      assert.equal(picksAt(shared).length, 2);
      assert.deepEqual(owner.seen, []);
    });
  });
  describe("comes back to the shared port", () => {
    it("at once with the same key, when a command fails on its way to the owner", async (t) => {
      const [shared, owner] = await startWorkers(t);
      const seat = new Emberline({ url: shared.url }).seat(key);
      await followed(seat, owner);
      owner.picks = "cut";
      await pick(seat);
      const [there] = picksAt(owner);
      const [here, ...again] = picksAt(shared);
      assert.ok(there?.key);
      assert.equal(here?.key, there.key);
      assert.deepEqual(again, []);
      owner.picks = "answered";
      await pick(seat);
      assert.equal(picksAt(owner).length, 1, "the port is left alone for some seconds");
    });

    it("after three seconds, when the owner takes a command and does not answer", async (t) => {
      const [shared, owner] = await startWorkers(t);
      const seat = new Emberline({ url: shared.url }).seat(key);
      await followed(seat, owner);
      owner.picks = "hanging";
      await pick(seat);
      assert.equal(picksAt(owner)[0]?.key, picksAt(shared)[0]?.key);
      assert.equal(picksAt(shared).length, 1);
    });

    it("with the last id, when the stream of the owner breaks", async (t) => {
      const [shared, owner] = await startWorkers(t);
      owner.hub = (response) => {
        response.write(spectators(2) + spectators(3));
        setImmediate(() => response.destroy());
      };
      const given: (string | undefined)[] = [];
      shared.hub = (response, lastEventId) => {
        given.push(lastEventId);
        response.write(spectators(3) + end(4));
      };
      const seat = new Emberline({ url: shared.url }).seat(key);
      await followed(seat, owner);
      const { events, ended } = listen(seat);
      await ended;
      assert.deepEqual(
        events.map(({ seq }) => seq),
        [2, 3, 4],
      );
      assert.deepEqual(given, ["3"]);
    });

    it("with the last id, when the owner ended the stream while a command waited", async (t) => {
      const [shared, owner] = await startWorkers(t);
      const opened: Response[] = [];
      owner.hub = (response) => {
        response.write(spectators(2));
        opened.push(response);
      };
      shared.hub = (response) => void response.write(end(3));
      const seat = new Emberline({ url: shared.url }).seat(key);
      await followed(seat, owner);
      const seen: number[] = [];
      for await (const { seq } of seat.events()) {
        seen.push(seq);
        if (seq !== 2) continue;
        for (const response of opened) response.end();
        await pick(seat);
        owner.picks = "cut";
        await pick(seat);
      }
      assert.deepEqual(seen, [2, 3]);
    });

    it("and stays there, when nothing listens at the port", async (t) => {
      const shared = await startWorker(t);
      shared.named = await freePort();
      await staysAt(shared);
    });

    it("and stays there, when the port takes connections and says nothing", async (t) => {
      const silent = createServer(() => undefined);
      await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
      t.after(() => silent.close());
      const shared = await startWorker(t);
      shared.named = (silent.address() as AddressInfo).port;
      await staysAt(shared);
    });

    it("and stays there, when something else answers at the port", async (t) => {
      const other = await startFaulty((response) => response.writeHead(404).end("nothing here"));
      t.after(other.stop);
      const shared = await startWorker(t);
      shared.named = Number(new URL(other.url).port);
      await staysAt(shared);
      assert.equal(other.seen.length, 1);
    });
  });
});

/** Commands do not wait for the port; a stream waits for a second at most. */
async function staysAt(shared: Worker): Promise<void> {
  shared.hub = (response) => void response.write(end(2));
  const seat = new Emberline({ url: shared.url }).seat(key);
  await seat.read();
  await pick(seat);
  await listen(seat).ended;
  await pick(seat);
  assert.equal(picksAt(shared).length, 2);
  assert.equal(streamsAt(shared).length, 1);
}
