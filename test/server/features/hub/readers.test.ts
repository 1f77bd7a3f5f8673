import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, describe, it, type TestContext } from "node:test";
import { findRuntime } from "../../../support/runtimes.ts";
import { startSample, type SampleServer } from "../../http/sample.ts";
import { createLobbyLog, type LobbyLog } from "../../sse/lobby-log.ts";
import { openRaw } from "../../sse/raw-stream.ts";
import { allSeatsTaken, hubOf, lobbyHubRoutes } from "./hub-of-sample.ts";

const limitMs = 60_000;
/** Longer than the limit, because a heartbeat's chunk would complete a delayed event. */
const heartbeatMs = 2 * limitMs;
const numEvents = 15;
const code = "RDRAAA";
const listTopic = "/games/trivia/lobbies";
const lineBreaks = "\u0085 \u2028 \u2029 \v \f \u001c \u001d \u001e \r \n \r\n \ufeff Zoë";
let sample: SampleServer;
let log: LobbyLog;
const address = (topic: string) => `${sample.url}/v1/hub?topic=${topic}`;

const tokenOf = (lobby: string) =>
  sample.deps.tokens.sign("hub", "1", 60, {
    subscribe: [log.topic(lobby)],
    lobby,
    lobby_player: 1,
  });

/** Sends an event only after the previous one was received. */
async function seesEach(seen: (id: number) => Promise<unknown>, lobby: string): Promise<void> {
  for (let n = 0; n < numEvents; n++) await seen(await log.publish(lobby, ["lobby.answer", { n }]));
}

describe("clients of the event stream", () => {
  before(async () => {
    sample = await startSample({ routes: lobbyHubRoutes });
    log = createLobbyLog(sample.store.url);
    const hub = hubOf(sample, log, {
      publicList: async () => JSON.stringify([{ host: lineBreaks }]),
      limits: { heartbeatMs },
    });
    Object.assign(sample.deps, { hub, rooms: allSeatsTaken });
  });
  after(async () => {
    await sample.deps.hub.drain(0);
    log.close();
    await sample.stop();
  });

  describe("a client that waits for the end of each HTTP chunk", () => {
    it("receives every event before the next one is written", async (t) => {
      const stream = await openRaw(`${address(log.topic(code))}&authorization=${tokenOf(code)}`);
      t.after(() => stream.socket.destroy());
      await stream.waitForText("lobby.snapshot", limitMs);
      await seesEach((id) => stream.waitForText(`id: ${id}\n`, limitMs), code);
    });

    it("receives events with composed ids, and the list, just as early", async (t) => {
      const lobby = "RDRBBB";
      const query = `also=${listTopic}&also=${log.topic("RDRCCC")}`;
      const tokens = `${tokenOf(lobby)},${tokenOf("RDRCCC")}`;
      const stream = await openRaw(
        `${address(log.topic(lobby))}&${query}&authorization=${encodeURIComponent(tokens)}`,
      );
      t.after(() => stream.socket.destroy());
      const list = stream.waitForText("lobbies.updated", limitMs);
      await Promise.all([list, stream.waitForText("RDRCCC", limitMs)]);
      await seesEach((id) => stream.waitForText(`id: ${id}.`, limitMs), lobby);
    });

    it("receives the end of a long event that its socket accepted in parts", async (t) => {
      const lobby = "RDRDDD";
      const stream = await openRaw(`${address(log.topic(lobby))}&authorization=${tokenOf(lobby)}`);
      t.after(() => stream.socket.destroy());
      await stream.waitForText("lobby.snapshot", limitMs);
      stream.socket.pause();
      const text = "x".repeat(3 * 1024 * 1024);
      await log.publish(lobby, ["lobby.answer", { text }]);
      stream.socket.resume();
      await stream.waitForText(`${text}"}}\n\n`, limitMs);
      const events = stream.chunks.join("").match(/^id: .*$/gm);
      assert.deepEqual(events, ["id: 0", "id: 1"], "nothing cut the event in two");
    });
  });
  describe("the requests library of Python", () => {
    it("receives the blank line of every event before the next one is written", async (t) => {
      const python = await findRuntime("python");
      if (typeof python === "string") return t.skip(python);
      const lobby = "RDREEE";
      const reader = readLines(t, python.path, address(log.topic(lobby)), tokenOf(lobby));
      await reader.event((line) => line.includes("lobby.snapshot"));
      await seesEach((id) => reader.event((line) => line === `id: ${id}`), lobby);
    });

    it("parses names with every kind of line break as one line, with the right characters", async (t) => {
      const python = await findRuntime("python");
      if (typeof python === "string") return t.skip(python);
      const lobby = "RDRFFF";
      await log.publish(lobby, ["lobby.answer", { name: lineBreaks }]);
      log.state.set(lobby, { status: lineBreaks });
      const topic = log.topic(lobby);
      const dataOf = (event: string[]) => {
        assert.deepEqual(
          event.map((line) => line.split(":", 1)[0]).filter((field) => field !== "id"),
          ["event", "data"],
        );
        const line = event.find((each) => each.startsWith("data: ")) ?? "";
        return (JSON.parse(line.slice("data: ".length)) as { data: unknown }).data;
      };
      const snapshot = readLines(t, python.path, address(topic), tokenOf(lobby));
      const of = (type: string) => (line: string) => line === `event: ${type}`;
      assert.deepEqual(dataOf(await snapshot.event(of("lobby.snapshot"))), {
        lobby: { status: lineBreaks },
      });
      await log.publish(lobby, ["lobby.pick", { name: lineBreaks }]);
      assert.deepEqual(dataOf(await snapshot.event(of("lobby.pick"))), { name: lineBreaks });
      const resumed = readLines(t, python.path, `${address(topic)}&lastEventId=0`, tokenOf(lobby));
      assert.deepEqual(dataOf(await resumed.event(of("lobby.answer"))), { name: lineBreaks });
      const list = readLines(t, python.path, address(listTopic), "");
      assert.deepEqual(dataOf(await list.event(of("lobbies.updated"))), {
        lobbies: [{ host: lineBreaks }],
      });
    });
  });
});

/** Lines as `requests` returns them; the test finds each by its content. */
function readLines(t: TestContext, python: string, url: string, token: string) {
  const script = join(import.meta.dirname, "read-lines.py");
  const child = spawn(python, [script, url, token], { stdio: ["ignore", "pipe", "inherit"] });
  t.after(() => child.kill());
  const lines: string[] = [];
  let checkText: () => void = () => undefined;
  createInterface({ input: child.stdout }).on("line", (line) => {
    lines.push(JSON.parse(line) as string);
    checkText();
  });
  /** Resolves with the event that contains this line, after its closing blank line. */
  const event = (matches: (line: string) => boolean): Promise<string[]> =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`no such event; got ${JSON.stringify(lines.slice(-9))}`)),
        limitMs,
      );
      checkText = () => {
        const start = lines.findIndex(matches);
        const end = start < 0 ? -1 : lines.indexOf("", start);
        if (end < 0) return;
        clearTimeout(timer);
        resolve(lines.slice(start, end));
      };
      checkText();
    });
  return { event };
}
