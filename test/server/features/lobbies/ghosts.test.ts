import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { startApp, type App } from "../../../support/app.ts";
import { manualClock } from "../../../support/clock.ts";
import { openStream, StreamRefused, type LobbyMessage } from "../../../support/event-stream.ts";
import { eventually } from "../../../support/eventually.ts";
import { ask, lobbyOf, openTable, outcome, sit, tally, type Seated } from "./seats.ts";

let app: App;
const clock = manualClock();
const [staleMs, graceMs] = [75_000, 60_000];

describe("the seat of a player who is gone", () => {
  before(async () => {
    app = await startApp({ clock, hubLimits: { removalGraceMs: 500 } });
  });
  after(() => app.stop());

  it("goes to exactly one of two who join a full lobby, and its tokens end", async () => {
    const { code, host, guests } = await openTable(app, { maxPlayers: 3 }, 2);
    const [ghost, guest] = guests;
    assert.ok(ghost && guest);
    const token = await hubTokenOf(code, ghost);
    const stream = openStream(addressOf(code), { token, reconnect: false });
    await stream.waitFor((frame) => frame.event === "lobby.snapshot", "snapshot");
    await disappear(code, ghost, [host, guest]);
    assert.equal(outcome(await join(code, "Third")), "400 lobby:full");
    await pass(code, graceMs, [host, guest]);
    const answers = await Promise.all([join(code, "Ada", "a"), join(code, "Grace", "b")]);
    assert.deepEqual(tally(answers), { 201: 1, "400 lobby:full": 1 });
    const ids = (await lobbyOf(app, code)).players.map(({ id }) => id);
    const winner = answers.find(({ status }) => status === 201);
    assert.ok(winner);
    const taken = winner.body.player;
    assert.deepEqual(ids, [host.id, guest.id, taken.id]);

    await stream.ended;
    const last = stream.frames.at(-1);
    assert.ok(last);
    const { type, data } = last.data as LobbyMessage;
    assert.deepEqual(
      [type, data["player_id"], data["reason"]],
      ["lobby.player_removed", ghost.id, "away"],
    );
    const again = openStream(addressOf(code), { token, reconnect: false });
    const refusal: unknown = await again.ended.catch((error: unknown) => error);
    assert.ok(refusal instanceof StreamRefused && refusal.status === 403, String(refusal));
    const calls = [
      ["heartbeat", "404 lobby:player_not_found"],
      ["leave", "404 lobby:player_not_found"],
      ["token", "403 lobby:not_member"],
    ];
    for (const [call, expected] of calls)
      assert.equal(
        outcome(await ask(app, "POST", `/${code}/${call}`, undefined, ghost.as)),
        expected,
      );

    // A repeat of the join has the same answer, and a returning ghost joins like anybody else.
    const key = taken.name === "Ada" ? "a" : "b";
    const repeated = await join(code, taken.name, key);
    assert.deepEqual([repeated.status, repeated.body.player.id], [201, taken.id]);
    assert.equal(outcome(await join(code, "Guest 1", "c", ghost.as)), "400 lobby:full");
    await ask(app, "POST", `/${code}/leave`, undefined, guest.as);
    assert.equal(outcome(await join(code, "Guest 1", "d", ghost.as)), "201");
  });

  it("gives its name to who asks for it, while other names leave it its place", async () => {
    const { code, host, guests } = await openTable(app, {}, 1);
    const [ghost] = guests;
    assert.ok(ghost);
    await disappear(code, ghost, [host]);
    assert.equal(outcome(await join(code, "guest 1")), "400 lobby:name_taken");
    await pass(code, graceMs, [host]);
    await sit(app, code, "Ada");
    const back = await sit(app, code, "guest 1");
    const names = (await lobbyOf(app, code)).players.map(({ id, name }) => `${id} ${name}`);
    assert.deepEqual(names.slice(-1), [`${back.id} guest 1`]);
    assert.ok(!names.includes(`${ghost.id} Guest 1`));
  });
});

const join = (code: string, name: string, key?: string, as: Record<string, string> = {}) =>
  ask(
    app,
    "POST",
    `/${code}/join`,
    { name },
    { ...as, ...(key && { "idempotency-key": key + code }) },
  );

const addressOf = (code: string) => `${app.url}/v1/hub?topic=/games/trivia/lobby/${code}`;

async function hubTokenOf(code: string, seat: Seated): Promise<string> {
  const answer = await ask(app, "POST", `/${code}/token`, undefined, seat.as);
  return answer.headers.get("x-hub-token") ?? "";
}

/** Time passes; only these players are heard of. */
async function pass(code: string, ms: number, present: readonly Seated[]): Promise<void> {
  clock.advance(ms);
  for (const { as } of present)
    assert.equal((await ask(app, "POST", `/${code}/heartbeat`, undefined, as)).status, 200);
}

async function disappear(code: string, ghost: Seated, present: readonly Seated[]): Promise<void> {
  await pass(code, staleMs, present);
  await eventually("the seat is not connected", async () => {
    const { players } = await lobbyOf(app, code);
    return players.find(({ id }) => id === ghost.id)?.is_connected === false;
  });
}
