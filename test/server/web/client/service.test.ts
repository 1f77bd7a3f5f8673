import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { after, before, describe, it } from "node:test";
import { Compile } from "typebox/compile";
import {
  Emberline,
  verifyReveal,
  type Guest,
  type Lobby,
  type LobbyEvent,
  type Seat,
} from "../../../../server/web/client/emberline.ts";
import { messageData } from "../../../../server/features/lobbies/messages.ts";
import { asset } from "../../../../server/platform/assets.ts";
import { joinClient } from "../../../../server/web/join-client.mjs";
import { startApp, type App } from "../../../support/app.ts";
import { refusedWith } from "./faulty-service.ts";

const run = promisify(execFile);

const checks = Object.fromEntries(
  Object.entries(messageData).map(([type, schema]) => [type, Compile(schema)]),
);

const short = { numQuestions: 2, category: "science", visibility: "public" } as const;

/** Reads events until one of this type, which it returns; every event must match its declaration. */
async function readUntil(
  events: AsyncGenerator<LobbyEvent, void>,
  type: LobbyEvent["type"],
): Promise<LobbyEvent> {
  for (;;) {
    const { value: event } = await events.next();
    assert.ok(event, `the stream ended before ${type}`);
    const problems = checks[event.type]?.Errors(event.data) ?? [];
    assert.deepEqual([...problems], [], event.type);
    if (event.type === type) return event;
  }
}

let app: App;
const over = new AbortController();
const whileOpen = { signal: over.signal };

async function table(mode: "coop" | "versus"): Promise<[host: Seat, friend: Seat]> {
  const host = await new Emberline({ url: app.url }).create({ ...short, mode, hostName: "Ada" });
  return [host, await new Emberline({ url: app.url }).join(host.code.toLowerCase(), "Grace")];
}

/** Both choose the first answer of the open question. */
async function chooseFirst(seats: Seat[], mode: "coop" | "versus", index: number) {
  const choice = { index, selected_index: 0 };
  for (const seat of seats)
    if (mode === "coop") await seat.pick(choice);
    else await seat.answer({ ...choice, time_taken_ms: 500 });
  if (mode === "coop") await seats[0]?.lock(index);
}

async function assertFolded(seat: Seat) {
  const { lobby } = await new Emberline({ url: app.url }).seat(seat.key).read();
  assert.deepEqual(timeless(seat.lobby), timeless(lobby));
}

describe("a client connected to a service", () => {
  before(async () => {
    app = await startApp({ env: { LOBBY_MIN_QUESTION_MS: "0" } });
  });
  after(async () => {
    over.abort();
    await app.stop();
  });

  describe("plays and watches", () => {
    for (const mode of ["versus", "coop"] as const)
      it(`plays ${mode} to the end; what it folds is what the service says`, async () => {
        const [host, friend] = await table(mode);
        const events = friend.events(whileOpen);
        await readUntil(events, "lobby.snapshot");
        await host.settings({ review: true, timer: 60 });
        await host.start();
        for (const index of [0, 1]) {
          await readUntil(events, index === 0 ? "lobby.started" : "lobby.question");
          await chooseFirst([host, friend], mode, index);
          await readUntil(events, "lobby.reveal");
          await assertFolded(friend);
          await host.next(index);
        }
        await readUntil(events, "lobby.ended");
        assert.equal((await events.next()).done, true, "nothing follows the end");
        assert.equal(friend.lobby?.status, "finished");
        await assertFolded(friend);
      });

    it("watches a public game without a seat, with a proof of every answer and no picks", async () => {
      const [host, friend] = await table("coop");
      const watcher = await new Emberline({ url: app.url }).spectate(host.code);
      const events = watcher.events(whileOpen);
      await readUntil(events, "lobby.snapshot");
      await host.start();
      await readUntil(events, "lobby.started");
      const question = watcher.lobby?.current_question;
      await host.pick({ index: 0, selected_index: 1 });
      await friend.pick({ index: 0, selected_index: 2 });
      await host.lock(0);
      for (;;) {
        const { value: event } = await events.next();
        assert.notEqual(event?.type, "lobby.pick");
        if (event?.type === "lobby.reveal") break;
      }
      const reveal = watcher.lobby?.reveal;
      assert.ok(question && reveal);
      assert.equal(await verifyReveal(question.answer_hash, question, reveal), true);
      await host.end();
      await readUntil(events, "lobby.ended");
      assert.equal((await events.next()).done, true);
    });

    it("sends its earlier picks to a returning seat, and to nobody else", async () => {
      const [host, friend] = await table("coop");
      const read = (seat: Seat) => new Emberline({ url: app.url }).seat(seat.key).read();
      assert.equal((await read(host)).picks, undefined);
      await host.start();
      await host.pick({ index: 0, selected_index: 1 });
      await friend.pick({ index: 0, selected_index: 2 });
      await host.pick({ index: 0, selected_index: 3 });
      const picks = [
        { player_id: friend.key.playerId, selected_index: 2 },
        { player_id: host.key.playerId, selected_index: 3 },
      ];
      for (const seat of [host, friend])
        assert.deepEqual(
          (await read(seat)).picks?.toSorted((a, b) => a.selected_index - b.selected_index),
          picks,
        );
      const outsider = await fetch(`${app.url}/v1/games/trivia/lobbies/${host.code}/status`);
      assert.doesNotMatch(await outsider.text(), /picks|selected_index/);
      await host.lock(0);
      assert.equal((await read(host)).picks, undefined);
      const [rival] = await table("versus");
      await rival.start();
      await rival.answer({ index: 0, selected_index: 1, time_taken_ms: 500 });
      assert.equal((await read(rival)).picks, undefined);
    });

    it("folds small events into its state", async () => {
      const [host, friend] = await table("versus");
      const events = friend.events(whileOpen);
      await readUntil(events, "lobby.snapshot");
      await host.start();
      await readUntil(events, "lobby.started");
      await host.answer({ index: 0, selected_index: 2, time_taken_ms: 900 });
      await readUntil(events, "lobby.answer");
      await assertFolded(friend);
      await events.return();
    });
  });
  describe("follows events to their end", () => {
    it("resumes after the last event it received, and gets a gap event when events are missing", async () => {
      const [host, friend] = await table("versus");
      await host.settings({ timer: 45 });
      await host.settings({ timer: 20 });
      const lastEventId = String((host.lobby?.seq ?? 0) + 2);
      const resumed = friend.events({ ...whileOpen, lastEventId });
      const first = await resumed.next();
      assert.equal(first.value?.type, "lobby.settings");
      assert.equal(String(first.value?.seq), String(Number(lastEventId) + 1));
      await resumed.return();
      const lost = friend.events({ ...whileOpen, lastEventId: "99999" });
      assert.equal((await lost.next()).value?.type, "lobby.gap");
      assert.equal((await lost.next()).value?.type, "lobby.snapshot");
      await lost.return();
    });

    it("gets no events after the last one of a finished game, with a seat or as a spectator", async () => {
      const [host, friend] = await table("versus");
      const watcher = await new Emberline({ url: app.url }).spectate(host.code);
      const lastEventId = String((await host.end()).seq);
      for (const view of [friend, watcher]) {
        const states: string[] = [];
        const onState = (state: string) => states.push(state);
        const signal = AbortSignal.timeout(5_000);
        const events = view.events({ lastEventId, signal, onState });
        assert.equal((await events.next()).done, true);
        assert.deepEqual(states, ["connecting"]);
        assert.equal(view.lobby?.status, "finished");
      }
    });

    it("reports why a seat is refused and ends with the seat", async () => {
      const [host, friend] = await table("versus");
      const events = friend.events(whileOpen);
      await readUntil(events, "lobby.snapshot");
      await host.kick(friend.key.playerId);
      await readUntil(events, "lobby.player_removed");
      assert.equal((await events.next()).done, true);
      await assert.rejects(friend.events(whileOpen).next(), refusedWith("lobby:not_member"));
      const forged = new Emberline({ url: app.url }).seat({ ...friend.key, token: "x.y.z" });
      await assert.rejects(forged.events(whileOpen).next(), refusedWith("lobby:token_invalid"));
      await assert.rejects(friend.leave(), refusedWith("lobby:player_not_found"));
    });

    it("ends a stream on its signal, without an error", async () => {
      const [host] = await table("versus");
      const stop = new AbortController();
      const states: string[] = [];
      const events = host.events({ signal: stop.signal, onState: (state) => states.push(state) });
      await readUntil(events, "lobby.snapshot");
      const next = events.next();
      stop.abort();
      assert.equal((await next).done, true);
      assert.deepEqual(states, ["connecting", "open"]);
    });
  });
  describe("stays one guest", () => {
    it("takes one seat even when the answer to its join is lost", async () => {
      const [host] = await table("versus");
      let isLost = false;
      const lossy: typeof fetch = async (input, init) => {
        const response = await fetch(input, init);
        if (isLost || !String(input).endsWith("/join")) return response;
        isLost = true;
        throw new TypeError("the connection was cut");
      };
      const seat = await new Emberline({ url: app.url, fetch: lossy }).join(host.code, "Once");
      const { lobby, player } = await seat.read();
      assert.ok(isLost);
      assert.equal(player?.name, "Once");
      assert.equal(lobby.players.filter(({ name }) => name === "Once").length, 1);
    });

    it("keeps its guest account after the access token expires, and gets another after the reclaim token expires", async () => {
      let kept: Guest | null = null;
      const guest = { load: () => kept, save: (one: Guest | null) => (kept = one) };
      const client = new Emberline({ url: app.url, guest });
      const [first, twin] = await Promise.all([client.guest(), client.guest()]);
      assert.equal(first.player_id, twin.player_id, "two at once are one");
      kept = { ...first, access_token: "worn.out.token" };
      await client.create({ ...short, hostName: "Ada" });
      assert.equal((await client.guest()).player_id, first.player_id);
      kept = { ...first, reclaim_token: "worn.out.token", expires_at_ms: 0 };
      assert.notEqual((await client.guest()).player_id, first.player_id);
    });

    it("sends all other requests as the same guest", async () => {
      const client = new Emberline({ url: app.url });
      const { player_id: id } = await client.guest();
      interface Drawn {
        question: { id: number };
      }
      const { question } = await client.call<Drawn>("GET", "/v1/games/trivia/questions/draw");
      const path = `/v1/games/trivia/questions/${question.id}/answer`;
      const given = { key: "tap-1", body: { selected_index: 0 } };
      const first = await client.call("POST", path, given);
      assert.deepEqual(await client.call("POST", path, given), first);
      const preferences = { sound: false };
      await client.call("PATCH", "/v1/games/trivia/preferences", { body: preferences });
      assert.deepEqual(await client.call("GET", "/v1/games/trivia/preferences"), { preferences });
      const message = "More of the same, please.";
      const feedback = { key: "said-1", body: { kind: "idea", source: "test", message } };
      assert.equal(await client.call("POST", "/v1/leads/feedback", feedback), undefined);
      await assert.rejects(client.call("GET", "/v1/users/@me"), refusedWith("auth:not_registered"));
      assert.equal((await client.guest()).player_id, id);
    });

    it("reports the state and the version of the service", async () => {
      const { status, uptime, version } = await new Emberline({ url: app.url }).health();
      assert.equal(status, "ok");
      assert.match(uptime, /^\d+d \d+h \d+m \d+s$/);
      assert.match(version, /^\d+\.\d+\.\d+/);
    });

    it("follows the public lobby list", async () => {
      const stop = new AbortController();
      const lists = new Emberline({ url: app.url }).publicLobbies({ signal: stop.signal });
      await lists.next();
      const [host] = await table("coop");
      for await (const lobbies of lists) {
        const listed = lobbies.find(({ code }) => code === host.code);
        if (listed?.players.length === 2) break;
      }
      stop.abort();
    });

    it("runs the bot of the README with the file as served", async (t) => {
      const folder = mkdtempSync(join(tmpdir(), "ember-robot-"));
      t.after(() => rmSync(folder, { recursive: true }));
      const served = await fetch(`${app.url}/client/emberline.js`);
      assert.match(served.headers.get("content-type") ?? "", /^text\/javascript/);
      writeFileSync(join(folder, "emberline.mjs"), await served.text());
      const robot = robotOfReadme().replaceAll("http://127.0.0.1:8080", app.url);
      writeFileSync(join(folder, "robot.mjs"), robot.replace("./emberline.ts", "./emberline.mjs"));
      const host = await new Emberline({ url: app.url }).create({
        ...short,
        hostName: "Ada",
        mode: "versus",
      });
      const events = host.events(whileOpen);
      const finished = run(process.execPath, [join(folder, "robot.mjs"), host.code]);
      await readUntil(events, "lobby.player_joined");
      await host.start();
      for (const index of [0, 1]) {
        await host.answer({ index, selected_index: 1, time_taken_ms: 700 });
        await readUntil(events, "lobby.reveal");
        await host.next(index);
      }
      const { stdout } = await finished;
      assert.equal(stdout.match(/is_correct/g)?.length, 2, stdout);
      const names = host.lobby?.players.map(({ name }) => name);
      assert.deepEqual(names, ["Ada", "Robot"]);
    });

    it("is served as one source that requests no other file", async () => {
      const text = await (await fetch(`${app.url}/client/emberline.ts`)).text();
      assert.equal(text, joinClient(asset("")));
      assert.doesNotMatch(text, /^import |\bimport\(|\brequire\(| from "\.\//m);
    });
  });
});

/** The robot must be plain JavaScript, since Node 22.17 does not strip types by itself. */
function robotOfReadme(): string {
  const readme = readFileSync(new URL("../../../../server/web/README.md", import.meta.url), "utf8");
  return /<!-- robot -->\s+```ts\n(.*?)```/s.exec(readme)?.[1] ?? "";
}

function timeless(lobby: Lobby | null) {
  const { server_now_ms: _, ...rest } = lobby ?? {};
  return rest;
}
