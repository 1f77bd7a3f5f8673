import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { eventually } from "../support/eventually.ts";
import { startPostgresPair, type PostgresPair } from "../support/postgres-pair.ts";
import { startService, type Service } from "../support/process.ts";

/** A request that creates a guest. */
interface Attempt {
  /** 0 for a broken connection. */
  status: number;
  code: string | undefined;
  /** Of an acknowledged one. */
  guest: { id: number; refresh: string } | null;
}

interface Answer {
  body?: { player: { id: number }; refresh_token: string };
  flash?: { errors?: { code: string }[] };
}

const numCallers = 8;

describe("a service on a Postgres that fails over behind one address", () => {
  let pair: PostgresPair;
  let service: Service;
  before(async () => {
    pair = await startPostgresPair();
    service = await startService({
      env: { DATABASE_URL: pair.url, RATE_LIMIT_FACTOR: "0", HTTP_WORKERS: "2" },
    });
  });
  after(async () => {
    try {
      await service.stop();
    } finally {
      await pair.stop();
    }
  });

  async function post(path: string, body: object): Promise<Attempt> {
    const answer = await fetch(`${service.url}/v1/gateway/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const json = (await answer.json()) as Answer;
    const { body: session, flash } = json;
    return {
      status: answer.status,
      code: flash?.errors?.[0]?.code,
      guest: session ? { id: session.player.id, refresh: session.refresh_token } : null,
    };
  }

  it("loses nothing acknowledged, and fails requests only until the standby is promoted", async () => {
    const attempts: Attempt[] = [];
    let isOver = false;
    const callers = Array.from({ length: numCallers }, async () => {
      while (!isOver) attempts.push(await post("guest", {}));
    });
    const numAcknowledged = () => attempts.filter(({ guest }) => guest !== null).length;
    const until = (count: number) =>
      eventually(`${count} guests`, () => numAcknowledged() >= count);

    await until(200);
    const numBefore = attempts.length;
    pair.killPrimary();
    await eventually("a refusal", () => attempts.some(({ guest }) => guest === null));
    await pair.promote();
    const isHealthy = async () => (await fetch(`${service.url}/v1/health-check`)).status === 200;
    await eventually("every worker is healthy", async () => (await isHealthy()) && isHealthy());
    const numMeanwhile = attempts.length;
    await until(numAcknowledged() + 200);
    isOver = true;
    await Promise.all(callers);

    const failed = (some: readonly Attempt[]) => some.filter(({ guest }) => guest === null);
    // Requests that were sent before may still fail.
    const late = attempts.slice(numMeanwhile + numCallers);
    assert.deepEqual(failed(attempts.slice(0, numBefore)), []);
    assert.deepEqual(failed(late), []);
    const refusals = new Set(failed(attempts).map(({ status, code }) => `${status} ${code}`));
    assert.deepEqual([...refusals], ["503 server:unavailable"]);

    const guests = attempts.flatMap(({ guest }) => guest ?? []);
    assert.equal(new Set(guests.map(({ id }) => id)).size, guests.length);
    for (const { refresh } of guests) {
      const { status } = await post("refresh", { refresh_token: refresh });
      assert.equal(status, 200);
    }
  });
});
