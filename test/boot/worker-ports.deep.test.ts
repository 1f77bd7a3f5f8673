import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:net";
import { test } from "node:test";
import { Emberline } from "../../server/web/client/emberline.ts";
import { eventually } from "../support/eventually.ts";
import { freePorts } from "../support/free-port.ts";
import { startService, type Service } from "../support/process.ts";

const numLobbies = 20;

/** The owner's port in the response about a new lobby. */
async function namedPort({ url }: Service): Promise<string | null> {
  const seat = await new Emberline({ url }).create({ hostName: "Ada" });
  const answer = await fetch(`${url}/v1/games/trivia/lobbies/${seat.code}`);
  assert.equal(answer.status, 200);
  await seat.end();
  return answer.headers.get("x-owner-port");
}

/** The ports of both owners; until the second worker has its share, the first one owns every lobby. */
async function portsOfOwners(service: Service): Promise<Set<string | null>> {
  const ports = new Set<string | null>();
  await eventually("both workers own lobbies", async () => {
    ports.add(await namedPort(service));
    return ports.size === 2;
  });
  return ports;
}

test("a worker whose port is taken serves without it, and the others have theirs", async (t) => {
  const first = await freePorts(2);
  const taken = createServer().listen(first + 1, "127.0.0.1");
  await once(taken, "listening");
  t.after(() => taken.close());
  const env = { HTTP_WORKERS: "2", WORKER_PORTS: String(first), RATE_LIMIT_FACTOR: "0" };
  const service = await startService({ env, sharesPostgres: true });
  t.after(() => service.stop());
  assert.deepEqual(await portsOfOwners(service), new Set([String(first), null]));
  const restarts = (await service.processes()).map(({ num_restarts }) => num_restarts);
  assert.ok(restarts.every((count) => count === 0));
});

test("no port is named, nor listened on, when the setting is off", async (t) => {
  const env = { HTTP_WORKERS: "2", RATE_LIMIT_FACTOR: "0" };
  const service = await startService({ env, sharesPostgres: true });
  t.after(() => service.stop());
  for (let i = 0; i < numLobbies; i++) assert.equal(await namedPort(service), null);
});

test("free ports are picked when the setting is auto", async (t) => {
  const env = { HTTP_WORKERS: "2", WORKER_PORTS: "auto", RATE_LIMIT_FACTOR: "0" };
  const service = await startService({ env, sharesPostgres: true });
  t.after(() => service.stop());
  const ports = [...(await portsOfOwners(service))].map(Number).sort((a, b) => a - b);
  assert.equal(ports.length, 2);
  assert.equal((ports[1] ?? 0) - (ports[0] ?? 0), 1);
});
