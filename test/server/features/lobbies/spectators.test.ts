import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { startApp, type App } from "../../../support/app.ts";
import {
  openStream,
  StreamRefused,
  type EventStream,
  type Frame,
  type LobbyMessage,
} from "../../../support/event-stream.ts";
import { ask, holding, cookieOf, lobbyOf, openTable, outcome, type Wire } from "./seats.ts";

let app: App;
const streams = new Set<EventStream>();
const spectate = (code: string) => ask(app, "POST", `/${code}/spectate`);
const addressOf = (code: string) => `${app.url}/v1/hub?topic=/games/trivia/lobby/${code}`;
const dataOf = (frame: Frame) => (frame.data as LobbyMessage).data;

async function tokenOf(code: string): Promise<string> {
  const answer = await spectate(code);
  assert.equal(answer.status, 204, answer.code);
  return answer.headers.get("x-hub-token") ?? "";
}

function open(code: string, token: string, lastEventId?: string): EventStream {
  const last = lastEventId === undefined ? {} : { lastEventId };
  const stream = openStream(addressOf(code), { token, reconnect: false, ...last });
  streams.add(stream);
  return stream;
}

const sees = (stream: EventStream, event: string) =>
  stream.waitFor((frame) => frame.event === event, event);

const counts = (stream: EventStream, count: number) =>
  stream.waitFor(
    (frame) => frame.event === "lobby.spectators" && dataOf(frame)["spectator_count"] === count,
    `${count} spectators`,
  );

describe("spectators of a lobby", () => {
  before(async () => {
    app = await startApp({ env: { LOBBY_MIN_QUESTION_MS: "0" } });
  });
  after(async () => {
    for (const stream of streams) stream.close();
    await app.stop();
  });

  describe("POST /lobbies/{code}/spectate", () => {
    it("returns a token for the lobby's stream to any caller, also as a cookie", async () => {
      const { code } = await openTable(app);
      const answer = await spectate(code.toLowerCase());
      assert.equal(answer.status, 204);
      const token = answer.headers.get("x-hub-token") ?? "";
      assert.equal(answer.headers.get("link"), '</v1/hub>; rel="hub"');
      const [cookie = ""] = answer.headers.getSetCookie();
      assert.match(
        cookie,
        new RegExp(
          `^hubAuthorization=${token}; Max-Age=86400; Path=/v1/hub; HttpOnly; SameSite=Lax$`,
        ),
      );
      assert.equal(app.deps.tokens.verify("hub", token)?.lobby_player, undefined);
    });

    it("refuses a private or unknown lobby", async () => {
      const { code } = await openTable(app, { visibility: "private" });
      for (const unknown of [code, "AAAAAA", "nope"]) {
        const answer = await spectate(unknown);
        assert.equal(outcome(answer), "404 lobby:not_found");
        assert.equal(answer.headers.get("x-hub-token"), null);
        assert.deepEqual(answer.headers.getSetCookie(), []);
      }
    });

    it("grants no seat: every command with the token is refused", async () => {
      const { code } = await openTable(app, {}, 1);
      const token = await tokenOf(code);
      const before = await lobbyOf(app, code);
      for (const [as, refusal] of [
        [holding(token), "401 lobby:token_invalid"],
        [cookieOf(token), "401 lobby:token_invalid"],
        [{ authorization: `Bearer ${token}` }, "401 auth:token_invalid"],
        [{ cookie: `hubAuthorization=${token}` }, "401 auth:required"],
      ] as const)
        for (const action of ["start", "token", "heartbeat", "leave", "end", "lock", "next"])
          assert.equal(
            outcome(await ask(app, "POST", `/${code}/${action}`, undefined, as)),
            refusal,
          );
      assert.equal((await lobbyOf(app, code)).seq, before.seq);
    });
  });
  describe("the stream of a spectator", () => {
    it("shows a co-op game without its picks, and nothing before the players see it", async () => {
      const { code, host, guests } = await openTable(
        app,
        { numQuestions: 1, category: "science" },
        1,
      );
      const own = await ask(app, "POST", `/${code}/token`, undefined, host.as);
      const player = open(code, own.headers.get("x-hub-token") ?? "");
      // Sequential: if both streams opened at once, the spectator might be counted before the player
      // subscribes.
      await sees(player, "lobby.snapshot");
      const spectator = open(code, await tokenOf(code));
      await Promise.all([sees(spectator, "lobby.snapshot"), counts(player, 1)]);
      await ask(app, "POST", `/${code}/start`, undefined, host.as);
      for (const seat of [host, ...guests])
        await ask(app, "POST", `/${code}/pick`, { selected_index: 2 }, seat.as);
      await ask(app, "POST", `/${code}/lock`, undefined, host.as);
      await ask(app, "POST", `/${code}/next`, undefined, host.as);
      await Promise.all([sees(player, "lobby.ended"), sees(spectator, "lobby.ended")]);
      const publicFrames = player.frames.filter((frame) => frame.event !== "lobby.pick");
      const ofGame = (frames: Frame[]) =>
        frames.filter((frame) => frame.event !== "lobby.snapshot");
      assert.deepEqual(ofGame(spectator.frames), ofGame(publicFrames));
      assert.equal(player.frames.length - publicFrames.length, 2);
      const untilReveal = spectator.frames.slice(
        0,
        spectator.frames.findIndex((frame) => frame.event === "lobby.reveal"),
      );
      assert.ok(!/selected_index|correct_index|answer_salt/.test(JSON.stringify(untilReveal)));
    });

    it("counts its spectators on the lobby while it is open", async () => {
      const { code, host } = await openTable(app);
      const own = await ask(app, "POST", `/${code}/token`, undefined, host.as);
      const player = open(code, own.headers.get("x-hub-token") ?? "");
      const token = await tokenOf(code);
      const [one, two] = [open(code, token), open(code, token)];
      await Promise.all([sees(one, "lobby.snapshot"), sees(two, "lobby.snapshot")]);
      await counts(player, 2);
      assert.equal((await lobbyOf(app, code)).spectator_count, 2);
      const listed = await ask(app, "GET", "");
      assert.equal(
        listed.body.lobbies.find((lobby: Wire) => lobby.code === code)?.spectator_count,
        2,
      );
      one.close();
      two.close();
      await counts(player, 0);
      const published = player.frames.filter((frame) => frame.event === "lobby.spectators");
      const times = published.map((frame) => (frame.data as LobbyMessage).at_ms);
      times.forEach((at, i) => assert.ok(i === 0 || at - (times[i - 1] ?? 0) >= 2_000));
    });

    it("ends when the lobby becomes private, and its token cannot reopen it", async () => {
      const { code, host } = await openTable(app);
      const token = await tokenOf(code);
      const spectator = open(code, token);
      await sees(spectator, "lobby.snapshot");
      const changed = await ask(
        app,
        "PATCH",
        `/${code}/settings`,
        { visibility: "private" },
        host.as,
      );
      assert.equal(changed.status, 204);
      await spectator.ended;
      assert.ok(!spectator.frames.some((frame) => frame.event === "lobby.settings"));
      await assert.rejects(
        open(code, token).ended,
        (error) => error instanceof StreamRefused && error.status === 404,
      );
    });

    it("shows no events from the time when the lobby was private", async () => {
      const { code, host, guests } = await openTable(app, { visibility: "private" }, 1);
      const left = await ask(app, "POST", `/${code}/leave`, undefined, guests[0]?.as);
      assert.equal(left.status, 204);
      await ask(app, "PATCH", `/${code}/settings`, { visibility: "public" }, host.as);
      const spectator = open(code, await tokenOf(code), "0");
      await sees(spectator, "lobby.snapshot");
      const names = spectator.frames.map((frame) => frame.event);
      assert.deepEqual(names, ["lobby.gap", "lobby.snapshot"]);
      assert.ok(!JSON.stringify(spectator.frames).includes("Guest 1"));
    });

    it("serves only the lobby that its token names", async () => {
      const [one, other] = [await openTable(app), await openTable(app)];
      await assert.rejects(
        open(other.code, await tokenOf(one.code)).ended,
        (error) => error instanceof StreamRefused && error.status === 403,
      );
    });
  });
});
