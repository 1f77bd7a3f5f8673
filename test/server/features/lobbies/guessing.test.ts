import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { routes } from "../../../../server/app/routes.ts";
import { startApp, type App } from "../../../support/app.ts";
import { post, registerAccount, tokenOf } from "../../../support/identity.ts";
import { holdWindows } from "../../../support/limit-windows.ts";
import {
  ask as askOnce,
  base,
  holding,
  noSeat,
  openTable,
  outcome,
  seatCalls,
  sit,
} from "./seats.ts";

/** With the factor below: misses per address and minute (GW-12). */
const allowed = 12;
const limited = "429 rate_limit:exceeded";

/** Endpoints without a required seat: method, path below the lobby, a valid body. */
const openCalls: [method: string, path: string, body?: object][] = [
  ["GET", ""],
  ["GET", "/status"],
  ["POST", "/join", { name: "Guesser" }],
  ["POST", "/spectate"],
  ["POST", "/reveal"],
];
const ask: typeof askOnce = async (app, ...call) => {
  await holdWindows(app.deps.redis);
  return askOnce(app, ...call);
};
const allCalls = [...openCalls, ...seatCalls] as const;

describe("a caller that guesses lobby codes", () => {
  let app: App;
  let lastAddress = 0;
  before(async () => {
    const env = { RATE_LIMIT_FACTOR: "0.2", TRUSTED_PROXIES: "127.0.0.1/32" };
    app = await startApp({ hasJobs: false, env });
  });
  after(() => app.stop());

  const newAddress = () => {
    const n = (lastAddress += 1);
    return { "x-forwarded-for": `203.0.${n >> 8}.${n & 255}` };
  };
  const newBearer = async () =>
    tokenOf((await post(app, "/v1/gateway/guest", {}, newAddress())).body);
  const openPrivate = () => openTable(app, { visibility: "private" }, 1);
  /** A new unknown code each time. */
  let guesses = 0;
  const unknownCode = () =>
    `ZZ${String((guesses += 1) + 222_222)
      .replace(/[01]/g, "9")
      .slice(-4)}`;
  async function exceed(from: Record<string, string>): Promise<void> {
    for (let i = 0; i < allowed; i++)
      assert.equal(
        outcome(await ask(app, "GET", `/${unknownCode()}`, undefined, from)),
        "404 lobby:not_found",
      );
    assert.equal(outcome(await ask(app, "GET", `/${unknownCode()}`, undefined, from)), limited);
  }

  it("gets 429 for right and wrong codes after too many misses in a minute, with the time to wait", async () => {
    const { code } = await openPrivate();
    const from = newAddress();
    await exceed(from);
    for (const guess of [code, code.toLowerCase(), unknownCode()]) {
      const refused = await ask(app, "GET", `/${guess}`, undefined, from);
      assert.equal(outcome(refused), limited);
      const wait = Number(refused.headers.get("retry-after"));
      assert.ok(wait > 50 && wait <= 60, String(wait));
      assert.deepEqual(refused.params, { retry_after: wait });
      assert.equal(refused.headers.get("x-ratelimit-limit"), String(allowed));
    }
    assert.equal((await ask(app, "GET", `/${code}`, undefined, newAddress())).status, 200);
  });

  it("is counted on every call that takes a code, even with a new account each time", async () => {
    const declared = routes
      .filter(({ path }) => path.startsWith(`${base}/{code}`))
      .map(({ method, path }) => `${method} ${path.slice(`${base}/{code}`.length)}`);
    const tried = allCalls.map(
      ([method, path]) => `${method} ${path.replace(noSeat, "{playerId}")}`,
    );
    assert.deepEqual(tried.toSorted(), declared.toSorted());
    const { code } = await openPrivate();
    for (const [method, path, body] of allCalls) {
      const from = newAddress();
      const outcomes = new Set<string>();
      for (let i = 0; i < allowed; i++) {
        const as = { ...from, ...(await newBearer()) };
        outcomes.add(outcome(await ask(app, method, `/${unknownCode()}${path}`, body, as)));
      }
      assert.deepEqual([...outcomes], ["404 lobby:not_found"], `${method} ${path}`);
      const as = { ...from, ...(await newBearer()) };
      for (const guess of [unknownCode(), code])
        assert.equal(
          outcome(await ask(app, method, `/${guess}${path}`, body, as)),
          limited,
          `${method} ${path}`,
        );
      assert.equal(outcome(await ask(app, "GET", `/${code}`, undefined, from)), limited);
    }
  });

  it("blocks no player in a lobby of theirs, by seat, cookie or login", async () => {
    const { code, host, guests } = await openPrivate();
    const from = newAddress();
    await exceed(from);
    const guest = guests[0]?.token ?? "";
    for (const as of [host.as, host.bearer, holding(guest), { cookie: `svc_lobby=${guest}` }]) {
      const read = await ask(app, "GET", `/${code}`, undefined, { ...from, ...as });
      assert.deepEqual([read.status, read.body?.lobby.code], [200, code]);
      for (const path of ["/heartbeat", "/reveal"]) {
        const call = await ask(app, "POST", `/${code}${path}`, undefined, { ...from, ...as });
        assert.equal(call.status, 200, path);
      }
      const token = await ask(app, "POST", `/${code}/token`, undefined, { ...from, ...as });
      assert.equal(token.status, 204);
      const topic = encodeURIComponent(`/games/trivia/lobby/${code}`);
      const stream = new AbortController();
      const events = await fetch(`${app.url}/v1/hub?topic=${topic}`, {
        headers: { ...from, authorization: `Bearer ${token.headers.get("x-hub-token")}` },
        signal: stream.signal,
      });
      stream.abort();
      assert.equal(events.status, 200);
    }
    const other = await openPrivate();
    const elsewhere = { ...from, ...holding(guest) };
    assert.equal(outcome(await ask(app, "GET", `/${other.code}`, undefined, elsewhere)), limited);
  });

  it("may still use a lobby in the public list, and is not counted for malformed codes", async () => {
    const { code } = await openTable(app);
    const from = newAddress();
    for (let i = 0; i < allowed + 3; i++)
      assert.equal((await ask(app, "GET", "/nonsense", undefined, from)).status, 404);
    await exceed(from);
    assert.equal((await ask(app, "GET", `/${code}`, undefined, from)).status, 200);
    const joined = await ask(app, "POST", `/${code}/join`, { name: "Late" }, from);
    assert.equal(joined.status, 201);
    assert.equal((await ask(app, "POST", `/${code}/spectate`, undefined, from)).status, 204);
  });

  it("learns nothing from the hub about a code without a token for it", async () => {
    const { code } = await openPrivate();
    const seat = await sit(app, (await openTable(app)).code, "Elsewhere");
    const answers = [];
    for (const guess of [code, unknownCode()]) {
      const topic = encodeURIComponent(`/games/trivia/lobby/${guess}`);
      for (const token of [null, seat.token, "x.y.z"]) {
        const headers = token === null ? {} : { authorization: `Bearer ${token}` };
        const answer = await fetch(`${app.url}/v1/hub?topic=${topic}`, { headers });
        const { flash } = (await answer.json()) as { flash: unknown };
        answers.push([token === null, answer.status, flash]);
      }
    }
    assert.deepEqual(answers.slice(0, 3), answers.slice(3));
  });

  it("is counted for team codes too", async () => {
    const owner = await registerAccount(app);
    const made = await app.client.post("/v1/games/trivia/teams", {
      body: { name: "The Guessed" },
      headers: tokenOf(owner.session),
    });
    const { team } = made.body as { team: { join_code: string } };
    const from = newAddress();
    const join = async (join_code: string) => {
      await holdWindows(app.deps.redis);
      const call = { body: { join_code }, headers: { ...from, ...(await newBearer()) } };
      return (await app.client.post("/v1/games/trivia/teams/join", call)).status;
    };
    const wrong = team.join_code.replace(/.$/, (last) => (last === "A" ? "B" : "A"));
    for (let i = 0; i < allowed; i++) assert.equal(await join(wrong), 404);
    assert.deepEqual([await join(wrong), await join(team.join_code)], [429, 429]);
  });
});
