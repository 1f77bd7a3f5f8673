import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Redis } from "ioredis";
import { type LobbyCommand, type Reply } from "../../actors/index.ts";
import { bodyOf, by, createCommand, drawQuestions } from "../actors/rooms/fleet.ts";
import { hubLimits } from "../../server/sse/delivery/limits.ts";
import { eventually } from "../support/eventually.ts";
import { testStores, type TestStores } from "../support/stores.ts";
import {
  codesOf,
  follow,
  ownersOf,
  shared,
  startMember,
  streamOf,
  type Follower,
  type Member,
  type Version,
} from "./versions.ts";
import { eventStreamKey } from "../support/lobby-keys.ts";

const questions = 6;

interface Table {
  code: string;
  /** The first one is the host's. */
  seats: readonly [number, number, number, number];
  followers: Follower[];
  /** Points that each seat was told. */
  points: Map<number, number>;
  /** Question and seat of answers given out of turn. */
  answered: Set<string>;
}

let stores: TestStores;
let redis: Redis;
const members: Member[] = [];
const all: Follower[] = [];
const living = () => members.filter(({ isLeaving }) => !isLeaving);

function memberOf(version: Version): Member {
  const found = living().find((member) => member.version === version);
  assert.ok(found, `no process of the ${version} version`);
  return found;
}

let turn = 0;

/** Each command goes to another process than the previous one. */
function next(): Member {
  const asked = living();
  const member = asked[(turn += 1) % asked.length];
  assert.ok(member);
  return member;
}

/** For a client with a key: repeats until it is answered, each time by another process. */
async function ask(code: string, command: LobbyCommand, key?: string): Promise<Reply> {
  let reply: Reply | null = null;
  for (let attempt = 0; attempt < 10; attempt++) {
    reply = await next().ask(code, command, key);
    if (reply !== null && (reply.ok || reply.code !== "server:unavailable")) return reply;
  }
  throw new Error(`${code}: ${command.type}: ${JSON.stringify(reply)}`);
}

const asks = async (code: string, command: LobbyCommand, key?: string) =>
  bodyOf(await ask(code, command, key));

let numSeats = 0;

async function open(code: string, mode: "coop" | "versus", count: number | null): Promise<Table> {
  numSeats += 10;
  const seats = [numSeats + 1, numSeats + 2, numSeats + 3, numSeats + 4] as const;
  await asks(code, createCommand(code, [...seats], { mode, questions: count }), `create-${code}`);
  for (const id of seats.slice(1))
    await asks(code, {
      type: "join",
      seat: { id, name: `P${id}`, nameSkeleton: `p${id}`, accountId: id, avatarUrl: null },
      ...by(id),
    });
  const versions = ["previous", "present"] as const;
  const followers = seats.map((seat, i) => {
    const wanted = versions[i % versions.length];
    const at = () => living().find(({ version }) => version === wanted) ?? next();
    return follow(at, code, { seat });
  });
  all.push(...followers);
  await eventually(`all followers of ${code} receive a message`, () =>
    followers.every((f) => f.received.last > 0),
  );
  return { code, seats, followers, points: new Map(), answered: new Set() };
}

async function start({ code, seats: [host] }: Table): Promise<void> {
  const plan = await asks(code, { type: "prepare", ...by(host) });
  const drawn = drawQuestions({ count: plan.count });
  await asks(code, { type: "start", revision: plan.revision, questions: drawn, ...by(host) });
}

/** All answer a question of a versus game, and the host continues. */
async function playQuestion(table: Table, index: number): Promise<void> {
  const { code, seats, points, answered } = table;
  await Promise.all(
    seats.map(async (seat, i) => {
      if (answered.has(`${index} ${seat}`)) return;
      const pick = { selectedIndex: (index + i) % 2, claimedMs: 900 + i, index };
      const { points_earned } = await asks(
        code,
        { type: "answer", ...pick, ...by(seat) },
        `${index}`,
      );
      points.set(seat, (points.get(seat) ?? 0) + points_earned);
    }),
  );
  await asks(code, { type: "next", index, ...by(seats[0]) }, `n${index}`);
}

/** Nothing lost, duplicated or out of order, in the stream and at every subscriber. */
async function check({ code, seats, followers, points }: Table): Promise<void> {
  await eventually(`all followers receive the end of ${code}`, () =>
    followers.every((f) => f.received.isEnded),
  );
  const entries = await redis.xrange(eventStreamKey(code), "-", "+");
  const numbers = entries.map(([id]) => Number.parseInt(id, 10));
  assert.deepEqual(
    numbers,
    [...numbers.keys()].map((n) => n + 1),
    code,
  );
  const log = new Map(
    entries.map(([, [, text = ""]], i) => [i + 1, text.slice(text.indexOf("\n") + 1)]),
  );
  for (const { received } of followers) {
    const { doubled, missed, gaps, last } = received;
    const nothing = { doubled: 0, missed: 0, gaps: 0, last: numbers.length };
    assert.deepEqual({ doubled, missed, gaps, last }, nothing, code);
    for (const [seq, text] of received.messages) assert.equal(text, log.get(seq), `${code} ${seq}`);
  }
  const { lobby } = await asks(code, { type: "read", ...by(seats[0]) });
  assert.equal(lobby.status, "finished");
  const scores = new Map(lobby.players.map(({ id, score }) => [id, score]));
  if (points.size > 0) assert.deepEqual(scores, points, code);
}

type Given = [code: string, command: LobbyCommand, key: string, reply: Reply];

/** Commands on the current question, accepted and refused, whose answers must stay the same. */
async function answerUnderKeys(tables: readonly Table[]): Promise<Given[]> {
  const given: Given[] = [];
  for (const { code, seats, points, answered } of tables) {
    const [, second] = seats;
    const answer = { type: "answer", selectedIndex: 0, claimedMs: 700, index: null } as const;
    for (const key of ["first", "again"]) {
      const command = { ...answer, ...by(second) };
      const reply = await ask(code, command, key);
      given.push([code, command, key, reply]);
      answered.add(`1 ${second}`);
      if (reply.ok) points.set(second, (points.get(second) ?? 0) + bodyOf(reply).points_earned);
    }
  }
  return given;
}

async function playCoop(code: string): Promise<Table> {
  const table = await open(code, "coop", 2);
  const { seats } = table;
  const [host, , third] = seats;
  await start(table);
  await asks(code, { type: "heartbeat", ...by(third) });
  for (const index of [0, 1]) {
    for (const seat of seats)
      await asks(code, { type: "pick", selectedIndex: 1, index, ...by(seat) }, `p${index}`);
    await asks(code, { type: "reveal", ...by(host) });
    await asks(code, { type: "lock", index, ...by(host) }, `l${index}`);
    await asks(code, { type: "next", index, ...by(host) }, `n${index}`);
  }
  return table;
}

async function playEndless(code: string): Promise<Table> {
  const table = await open(code, "coop", null);
  const [host] = table.seats;
  await start(table);
  // The previous version may not know it; the host is then told to retry.
  await ask(code, { type: "plan_batch", ...by(host) });
  for (let index = 0; index < 30; index++)
    await eventually(`${code} has question ${index + 1}`, async () => {
      const reply = await ask(code, { type: "next", index, ...by(host) }, `n${index}`);
      assert.ok(reply.ok || reply.code === "generator:unavailable", JSON.stringify(reply));
      return reply.ok;
    });
  await asks(code, { type: "end", ...by(host) });
  return table;
}

describe("lobbies during a rolling upgrade", () => {
  before(async () => {
    stores = await testStores();
    redis = new Redis({ path: stores.redisUrl.replace("unix://", "") });
    members.push(
      ...(await Promise.all([
        startMember("previous", stores.redisUrl),
        startMember("present", stores.redisUrl),
      ])),
    );
  });
  after(async () => {
    for (const follower of all) follower.close();
    await Promise.all(members.map((member) => member.end()));
    redis.disconnect();
    await stores.stop();
  });

  describe("with an owner of either release", () => {
    for (const owner of ["previous", "present"] as const) {
      const other = owner === "present" ? "previous" : "present";

      it(`that the ${owner} version owns are played through both`, async () => {
        await shared(redis, living());
        const [coop = "", versus = "", endless = ""] = await codesOf(redis, memberOf(owner), 3);
        const table = await open(versus, "versus", questions);
        await asks(versus, {
          type: "settings",
          changes: { prompt: "birds" },
          ...by(table.seats[0]),
        });
        await start(table);
        for (let index = 0; index < questions; index++) await playQuestion(table, index);
        await check(table);
        await check(await playCoop(coop));
        await check(await playEndless(endless));
      });

      it(`count streams of both when the ${owner} version owns them`, async () => {
        await shared(redis, living());
        const [code = ""] = await codesOf(redis, memberOf(owner), 1);
        const table = await open(code, "versus", questions);
        const [host] = table.seats;
        const watching = living().map((member) => follow(() => member, code, { public_at: 1 }));
        all.push(...watching);
        await eventually("both spectators are counted", async () => {
          const reply = await ask(code, { type: "read", ...by(host) });
          return bodyOf(reply).lobby.spectator_count === living().length;
        });
        const opened = Array.from({ length: hubLimits.maxStreamsPerSeat - 1 }, () =>
          fetch(streamOf(next(), code, { seat: host })),
        );
        for (const { status } of await Promise.all(opened)) assert.equal(status, 200);
        for (const member of living())
          assert.equal((await fetch(streamOf(member, code, { seat: host }))).status, 503);
        for (const one of await Promise.all(opened)) await one.body?.cancel();
        await asks(code, { type: "end", ...by(host) });
        await check(table);
      });

      it(`are the same in the list of both when the ${owner} version owns them`, async () => {
        await shared(redis, living());
        const [code = ""] = await codesOf(redis, memberOf(owner), 1);
        const table = await open(code, "versus", questions);
        const lists = await Promise.all(living().map((member) => member.list()));
        for (const list of lists) assert.match(list, new RegExp(`"code":"${code}"`));
        await asks(code, { type: "operator_end" });
        await check(table);
        for (const member of living())
          await eventually(
            "it is gone from the list",
            async () => !(await member.list()).includes(code),
          );
      });

      for (const way of ["drain", "kill"] as const)
        it(`go on in the ${other} version after a ${way} of the ${owner} one`, async () => {
          await shared(redis, living());
          const leaving = memberOf(owner);
          const codes = await codesOf(redis, leaving, 4);
          const tables = await Promise.all(codes.map((code) => open(code, "versus", questions)));
          const [waiting = ""] = await codesOf(redis, leaving, 1);
          const idle = await open(waiting, "versus", questions);
          await Promise.all(tables.map(start));
          await Promise.all(tables.map((table) => playQuestion(table, 0)));
          const given = await answerUnderKeys(tables);
          const replaced = way === "drain" ? leaving.drain() : leaving.kill(redis);
          await Promise.all([
            replaced,
            ...tables.map(async (table) => {
              for (let index = 1; index < questions; index++) await playQuestion(table, index);
            }),
          ]);
          const remaining = memberOf(other);
          for (const [code, command, key, reply] of given)
            assert.deepEqual(await remaining.ask(code, command, key), reply, `${code} ${key}`);
          await start(idle);
          for (let index = 0; index < questions; index++) await playQuestion(idle, index);
          for (const table of [...tables, idle]) await check(table);
          await eventually("the other owns every shard", async () =>
            (await ownersOf(redis)).every((owner) => owner === remaining.nodeId),
          );
          members.push(await startMember(owner, stores.redisUrl));
        });
    }
  });
});
