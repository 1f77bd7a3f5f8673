import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import pg from "pg";
import { saveAwards } from "../../../db/queries/wallet/awards.ts";
import { startApp, type App } from "../../support/app.ts";
import {
  post,
  registerAccount,
  tally,
  tokenOf,
  type SessionAnswer,
} from "../../support/identity.ts";
import { untilWaiting } from "../../support/locks.ts";
import { createTeam } from "../../../server/features/teams/service.ts";
import { fillBank } from "../features/runs/game.ts";

const pool = 6;
const share = 2;
const times = 100;
let app: App;
let holder: pg.Client;

async function player() {
  const { session } = await registerAccount(app);
  return { id: session.player.id, headers: tokenOf(session) };
}

type Player = Awaited<ReturnType<typeof player>>;

/** Runs an action while another transaction holds these rows. */
async function holding<T>(
  rows: string,
  id: number,
  work: () => Promise<T>,
  by = holder,
): Promise<T> {
  await by.query("begin");
  await by.query(`${rows} for update`, [id]);
  try {
    return await work();
  } finally {
    await by.query("rollback");
  }
}

const repeat = <T>(work: (n: number) => Promise<T>) =>
  Promise.all(Array.from({ length: times }, (_, n) => work(n)));

async function waiting(): Promise<number> {
  const { rows } = await holder.query<{ count: number }>(
    `select count(*)::int as count from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return rows[0]?.count ?? 0;
}

const combination = { source: "custom", icon: "lorc/acorn", color: "red", bg: "slate" };

/** Completed actions: their repeats, and the row they would lock. */
const done: [what: string, rows: string, prepare: (who: Player) => Promise<Repeat>][] = [
  [
    "an award",
    "select 1 from wallets where player_id = $1",
    async ({ headers }) => {
      const claim = () =>
        post(app, "/v1/embers/@me/awards", { award_id: "id.award.once", game: "trivia" }, headers);
      await claim();
      return { again: claim, outcome: "200" };
    },
  ],
  [
    "a favorite",
    "select 1 from players where id = $1",
    async ({ headers }) => {
      const list = await app.client.get("/v1/games/trivia/questions?category=music");
      const [question] = (list.body as { questions: { id: number }[] }).questions;
      const body = { question_id: question?.id };
      const keep = () => post(app, "/v1/games/trivia/favorites", body, headers);
      assert.equal((await keep()).status, 201);
      return { again: keep, outcome: "409 favorite:exists" };
    },
  ],
  [
    "preferences",
    "select 1 from player_preferences where player_id = $1",
    async ({ headers }) => {
      const change = () => patch("/v1/games/trivia/preferences", { a: 1 }, headers);
      assert.equal((await change()).status, 200);
      return { again: change, outcome: "200" };
    },
  ],
  [
    "the claim of an icon",
    "select 1 from players where id = $1",
    async ({ headers }) => {
      const claim = () => patch("/v1/users/@me/avatar", { ...combination, color: "blue" }, headers);
      assert.equal((await claim()).status, 200);
      return { again: claim, outcome: "200" };
    },
  ],
  [
    "the claim of what another player holds",
    "select 1 from players where id = $1",
    async ({ headers }) => {
      const claim = (as: Player["headers"]) => patch("/v1/users/@me/avatar", combination, as);
      assert.equal((await claim((await player()).headers)).status, 200);
      return { again: () => claim(headers), outcome: "409" };
    },
  ],
  [
    "an answer of a challenge",
    "select 1 from runs where player_id = $1",
    async ({ headers }) => {
      const base = "/v1/games/trivia";
      const today = await app.client.get(`${base}/challenges/today?tz=UTC`, { headers });
      const { daily_shuffle: daily } = today.body as { daily_shuffle: { id: number } };
      const body = { mode: "daily_shuffle", challenge_id: daily.id };
      const { id } = (await post(app, `${base}/runs`, body, headers))
        .body as unknown as typeof daily;
      const given = { selected_index: 0, time_taken_ms: 1 };
      const answer = () => post(app, `${base}/runs/${id}/answer`, given, headers);
      assert.equal((await answer()).status, 200);
      return { again: answer, outcome: "409 run:already_answered" };
    },
  ],
  [
    "a team joined",
    "select 1 from teams where owner_id = $1",
    async ({ id, headers }) => {
      const { joinCode } = await createTeam(app.deps, id, `Team ${id}`);
      const join = () => post(app, "/v1/games/trivia/teams/join", { join_code: joinCode }, headers);
      return { again: join, outcome: "409 team:already_member" };
    },
  ],
];

interface Repeat {
  again: () => Promise<SessionAnswer>;
  outcome: string;
}

async function patch(path: string, body: unknown, headers: Record<string, string>, to = app) {
  const { status, headers: given } = await to.client.request("PATCH", path, { body, headers });
  return { status, headers: given, code: undefined } as unknown as SessionAnswer;
}

describe("the pool share of one caller", () => {
  before(async () => {
    app = await startApp({ hasJobs: false, env: { DATABASE_POOL: String(pool) } });
    await fillBank(app, 4);
    const terms = { name: "Once", emberValue: 5, repeatable: false, dailyLimit: null };
    const award = { awardId: "id.award.once", game: "trivia", ...terms };
    await saveAwards(app.deps.em, [{ ...award, clientClaimable: true, isActive: true }]);
    holder = new pg.Client({ connectionString: app.stores.databaseUrl });
    await holder.connect();
  });
  after(async () => {
    await holder.end();
    await app.stop();
  });

  describe("a hundred concurrent requests of one caller", () => {
    for (const [what, rows, prepare] of done)
      it(`that repeat ${what} wait for no lock`, async () => {
        const who = await player();
        const { again, outcome } = await prepare(who);
        const answers = await holding(rows, who.id, () => repeat(again));
        assert.deepEqual(tally(answers), { [outcome]: times });
      });

    it("that wait for one row hold a share of the pool, and do not delay another player", async () => {
      const [ann, bob] = [await player(), await player()];
      const change = (n: number) => patch("/v1/games/trivia/preferences", { n }, ann.headers);
      await change(-1);
      const rows = "select 1 from player_preferences where player_id = $1";
      let changed: Promise<SessionAnswer[]> = Promise.resolve([]);
      await holding(rows, ann.id, async () => {
        changed = repeat(change);
        await untilWaiting(app.deps.em, share);
        // As many connections as all hundred would use if they could.
        const reads = Array.from({ length: pool }, () =>
          app.client.get("/v1/embers/@me", { headers: bob.headers }),
        );
        for (const { status } of await Promise.all(reads)) assert.equal(status, 200);
        assert.equal(await waiting(), share);
      });
      assert.deepEqual(tally(await changed), { "200": times });
    });
  });
  describe("the queue of one caller", () => {
    const line = 8;
    const sent = 20;
    let short: App;
    let rows: pg.Client;
    before(async () => {
      const env = { DATABASE_POOL: String(pool) };
      short = await startApp({ hasJobs: false, waitingOfCaller: line, env });
      rows = new pg.Client({ connectionString: short.stores.databaseUrl });
      await rows.connect();
    });
    after(async () => {
      await rows.end();
      await short.stop();
    });

    it("refuses requests beyond its limit, with Retry-After", async () => {
      const { session } = await registerAccount(short);
      const change = (n: number) =>
        patch("/v1/games/trivia/preferences", { n }, tokenOf(session), short);
      await change(-1);
      const refused: SessionAnswer[] = [];
      const all: Promise<SessionAnswer>[] = [];
      const beyond = sent - line - share;
      const row = "select 1 from player_preferences where player_id = $1";
      await holding(
        row,
        session.player.id,
        async () => {
          const { promise: isFull, resolve } = Promise.withResolvers<void>();
          for (let n = 0; n < sent; n++)
            all.push(
              change(n).then((answer) => {
                if (answer.status === 429 && refused.push(answer) === beyond) resolve();
                return answer;
              }),
            );
          await isFull;
        },
        rows,
      );
      assert.deepEqual(tally(await Promise.all(all)), { "200": line + share, "429": beyond });
      for (const { headers } of refused) assert.ok(Number(headers.get("retry-after")) >= 1);
    });
  });
});
