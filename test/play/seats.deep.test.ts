import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { newPlayer } from "../support/player.ts";
import { startService, type Service } from "../support/process.ts";
import { insist } from "../support/insist.ts";

const base = "/v1/games/trivia/lobbies";
const rounds = 6;
const roomsPerRound = 6;
const guestsPerRoom = 7;

interface Seated {
  lobby: { code: string; players: { id: number; name: string }[] };
  player: { id: number };
}

describe("players who take seats while workers are killed", () => {
  let service: Service;
  before(async () => {
    const env = { HTTP_WORKERS: "2", JOB_WORKERS: "0", RATE_LIMIT_FACTOR: "0" };
    service = await startService({ env, sharesPostgres: true });
  });
  after(async () => {
    await service.stop();
  });

  async function post<T>(path: string, body: unknown, headers: Record<string, string>): Promise<T> {
    const answer = await insist(service.url, { method: "POST", path: base + path, body, headers });
    assert.equal(answer.status, 201, JSON.stringify(answer));
    return answer.body as T;
  }

  /** A room whose players all join at once; returns the ids of its seats, of the host first. */
  async function fillRoom(bearer: Record<string, string>): Promise<number[]> {
    const { lobby, player } = await post<Seated>("", { hostName: "Host", maxPlayers: 8 }, bearer);
    const joins = Array.from({ length: guestsPerRoom }, (_, n) =>
      post<Pick<Seated, "player">>(`/${lobby.code}/join`, { name: `Guest ${n}` }, {}),
    );
    const ids = [player.id, ...(await Promise.all(joins)).map((joined) => joined.player.id)];
    const path = `${base}/${lobby.code}`;
    const read = await insist(service.url, { method: "GET", path });
    const { players } = (read.body as unknown as Seated).lobby;
    assert.deepEqual(new Set(players.map(({ id }) => id)), new Set(ids));
    assert.equal(players.length, 1 + guestsPerRoom);
    return ids;
  }

  it("get one seat each under their keys, and no seat has the number of another", async () => {
    const taken = new Set<number>();
    let kills = 0;
    for (let round = 0; round < rounds; round++) {
      const { accessToken } = await newPlayer(service.url, `Host ${round}`);
      const bearer = { authorization: `Bearer ${accessToken}` };
      const rooms = Promise.all(Array.from({ length: roomsPerRound }, () => fillRoom(bearer)));
      // At another moment of the requests in each round.
      await delay(5 + 7 * round);
      const victim = (await service.workerPids()).at(round % 2);
      if (victim !== undefined) process.kill(victim, "SIGKILL");
      kills += victim === undefined ? 0 : 1;
      for (const id of (await rooms).flat()) taken.add(id);
      while ((await service.workerPids()).length < 2) await delay(50);
    }
    assert.equal(kills, rounds);
    assert.equal(taken.size, rounds * roomsPerRound * (1 + guestsPerRoom));
  });
});
