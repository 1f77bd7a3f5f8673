import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { accuracyOf, writeTotals, type Totals } from "../leaderboards/domain/model.ts";
import { app, clock, member, startsTeamsApp } from "./teams-app.ts";

describe("the ranks of teams", () => {
  startsTeamsApp();

  describe("are ranked", ranked);
});

function ranked(): void {
  it("are ranked by their present members after every join and leave", async () => {
    const stats = new Map<number, Totals>();
    const teams = new Map<number, Set<number>>();
    const people = await Promise.all(Array.from({ length: 8 }, () => member()));
    const play = async (id: number, score: number, streak: number, correct: number) => {
      clock.advance(1_000);
      const at = clock.now();
      const row: Totals = {
        ...{ id, name: "", score, scoreAt: at, xp: score, xpAt: at, streak, streakAt: at },
        ...{ answers: 10, correct },
      };
      stats.set(id, row);
      await writeTotals(app, [row]);
    };
    type Metric = "score" | "accuracy" | "streak";
    const valueOf = (metric: Metric, ids: Set<number>): number => {
      const rows = [...ids].flatMap((id) => stats.get(id) ?? []);
      if (metric === "score") return rows.reduce((sum, row) => sum + row.score, 0);
      if (metric === "streak") return Math.max(0, ...rows.map((row) => row.streak));
      const sum = (key: "answers" | "correct") => rows.reduce((all, row) => all + row[key], 0);
      return accuracyOf({ answers: sum("answers"), correct: sum("correct") });
    };
    const compare = async () => {
      for (const metric of ["score", "accuracy", "streak"] as const) {
        const { body } = await app.client.get(
          `/v1/games/trivia/leaderboard/teams?metric=${metric}&limit=100`,
        );
        const { entries, total } = body as {
          entries: { team_id: number; rank: number; value: number }[];
          total: number;
        };
        assert.equal(total, entries.length);
        const values = entries.map(({ value }) => value);
        assert.deepEqual(
          values,
          values.toSorted((a, b) => b - a),
        );
        for (const { team_id, rank, value } of entries) {
          assert.equal(rank, 1 + values.filter((other) => other > value).length);
          const ids = teams.get(team_id);
          if (ids) assert.equal(value, valueOf(metric, ids), metric);
        }
        for (const id of teams.keys()) assert.ok(entries.some(({ team_id }) => team_id === id));
      }
    };
    const founded = await Promise.all(people.slice(0, 3).map((one) => one.found()));
    for (const [n, team] of founded.entries()) teams.set(team.id, new Set([people[n]?.id ?? 0]));
    await compare();
    for (const [n, one] of people.entries()) {
      const team = founded[n % 3];
      assert.ok(team);
      if (n >= 3) await one.join(team.join_code);
      teams.get(team.id)?.add(one.id);
      await play(one.id, 100 * (n % 4), n % 3, n);
      await compare();
    }
    await app.deps.redis.flushall();
    await compare();
    // A member leaves, and a team ends.
    const [leaver] = people.slice(7);
    await leaver?.call("POST", "/@me/leave");
    for (const ids of teams.values()) ids.delete(leaver?.id ?? 0);
    await compare();
    const lone = await member();
    const { id } = await lone.found();
    await lone.call("POST", "/@me/leave");
    const { json } = await app.client.get("/v1/games/trivia/leaderboard/teams?limit=100");
    assert.doesNotMatch(JSON.stringify(json), new RegExp(`"team_id":${id}\\b`));
    for (const query of ["metric=xp", "limit=x", "page=y"]) {
      const answer = await app.client.get(`/v1/games/trivia/leaderboard/teams?${query}`);
      assert.equal(answer.status, 400, query);
    }
  });

  it("with equal values are ordered by earlier score or more answers, on every page", async () => {
    const teams = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const owner = await member();
        return { owner: owner.id, team: (await owner.found()).id };
      }),
    );
    teams.sort((a, b) => a.team - b.team);
    const at = clock.now() + 60_000;
    const same = { name: "", xp: 0, xpAt: at, score: 777_000, streak: 77 };
    // When score and streak were reached, in seconds, and the number of answers, all of them correct.
    const of = [
      [3, 2, 10],
      [1, 5, 10],
      [2, 5, 30],
      [1, 1, 20],
    ] as const;
    await writeTotals(
      app,
      teams.map(({ owner }, n) => {
        const [score, streak, answers] = of[n] ?? assert.fail();
        const times = { scoreAt: at + score * 1_000, streakAt: at + streak * 1_000 };
        return { ...same, ...times, id: owner, answers, correct: answers };
      }),
    );
    const read = async (metric: string, page: number, limit: number) => {
      const path = `/v1/games/trivia/leaderboard/teams?metric=${metric}&limit=${limit}&page=${page}`;
      const { body } = await app.client.get(path);
      return body as { entries: { team_id: number; rank: number }[]; has_more: boolean };
    };
    for (const [metric, order] of [
      ["score", [1, 3, 2, 0]],
      ["streak", [3, 0, 1, 2]],
      ["accuracy", [2, 3, 0, 1]],
    ] as const) {
      const { entries: all } = await read(metric, 1, 100);
      assert.deepEqual(
        all.slice(0, 4).map(({ team_id, rank }) => [team_id, rank]),
        order.map((n) => [teams[n]?.team, 1]),
        metric,
      );
      const pages = [];
      for (let page = 1, isMore = true; isMore; page++) {
        const { entries, has_more } = await read(metric, page, 3);
        pages.push(...entries);
        isMore = has_more;
      }
      assert.deepEqual(pages, all, metric);
    }
  });

  it("keep their place when a new member adds no score", async () => {
    const [ann, bob, cid, dan] = [await member(), await member(), await member(), await member()];
    const [first, second] = [await ann.found(), await bob.found()];
    const at = clock.now();
    const row = (id: number, score: number, ms: number): Totals => ({
      ...{ id, name: "", score, scoreAt: at + ms, xp: 0, xpAt: at, streak: 0, streakAt: at },
      ...{ answers: 1, correct: 0 },
    });
    const best = 555_000;
    await writeTotals(app, [row(ann.id, best, 1), row(bob.id, best, 2), row(dan.id, 0, 3)]);
    const order = async () => {
      const { body } = await app.client.get("/v1/games/trivia/leaderboard/teams?limit=100");
      const { entries } = body as { entries: { team_id: number; value: number }[] };
      return entries.flatMap(({ team_id, value }) => (value === best ? [team_id] : []));
    };
    assert.deepEqual(await order(), [first.id, second.id]);
    clock.advance(60_000);
    for (const one of [cid, dan]) {
      await one.join(first.join_code);
      assert.deepEqual(await order(), [first.id, second.id]);
    }
  });
}
