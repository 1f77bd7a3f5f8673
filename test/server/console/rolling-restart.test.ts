import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, afterEach, before, describe, it } from "node:test";
import { restartFleet } from "../../../server/console/rolling-restart.ts";
import { parseConfig } from "../../../server/platform/config/config.ts";

const workerOf = (service: string, index: number) => ({
  ...{ service, index, host: `host-${service}`, role: "http", pid: 1, is_ready: true },
  ...{ is_draining: false, instance: `${service}-${index}-old` },
});
type Worker = ReturnType<typeof workerOf>;

/** An operator listener: what it shows, and what an order to drain does to the worker. */
const shown = {
  workers: [] as Worker[],
  fleet: {} as { instances: { id: string; host: string }[] | null; unregistered: string[] },
  drain: (_: Worker): [status: number, code?: string] => [202],
};
const orders: string[] = [];

/** It has a successor at once. */
const replaced = (worker: Worker): [number] => {
  worker.instance = `${worker.instance}, replaced`;
  return [202];
};

describe("the restart of all HTTP workers", () => {
  let server: Server;
  before(async () => {
    server = createServer((request, response) => {
      const [, , , index, action] = (request.url ?? "").split("/");
      const send = (status: number, body: object, code?: string) => {
        const errors = code === undefined ? [] : [{ code, message: "no" }];
        response.writeHead(status).end(JSON.stringify({ body, flash: { errors } }));
      };
      if (request.url === "/operator/fleet") return send(200, shown.fleet);
      if (request.url === "/operator/workers") return send(200, { workers: shown.workers });
      let text = "";
      request.on("data", (chunk: Buffer) => (text += chunk.toString("utf8")));
      request.on("end", () => {
        const { service, reason } = JSON.parse(text) as { service: string; reason: string };
        orders.push(`${action} ${index} of ${service}: ${reason}`);
        const worker = shown.workers.find(
          (one) => `${one.service} ${one.index}` === `${service} ${index}`,
        );
        assert.ok(worker);
        const [status, code] = shown.drain(worker);
        send(status, { worker: { pid: worker.pid } }, code);
      });
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
  });
  after(() => server.close());
  afterEach(() => orders.splice(0));

  async function restart(change: Partial<typeof shown> = {}) {
    Object.assign(shown, {
      workers: [
        workerOf("a", 0),
        workerOf("a", 1),
        workerOf("b", 0),
        { ...workerOf("b", 1), role: "jobs" },
      ],
      fleet: { instances: ["a", "b"].map((id) => ({ id, host: `host-${id}` })), unregistered: [] },
      drain: replaced,
      ...change,
    });
    const { port } = server.address() as AddressInfo;
    const config = {
      ...parseConfig({ OPERATOR_LISTEN: `127.0.0.1:${port}` }),
      OPERATOR_TOKEN: "token-of-the-operator",
    };
    const lines: string[] = [];
    const waits = { completeMs: 0, replaceMs: 0 };
    const end = await restartFleet(config, "it grew", (line) => lines.push(line), waits).catch(
      (error: Error) => error.message,
    );
    return { end, lines };
  }

  it("takes one after the other, of all instances, and prints each", async () => {
    const { end, lines } = await restart({ drain: replaced });
    assert.deepEqual(end, { num_instances: 2, num_workers: 3 });
    assert.deepEqual(orders, [
      "drain 0 of a: it grew",
      "drain 1 of a: it grew",
      "drain 0 of b: it grew",
    ]);
    assert.equal(lines.length, 6);
    assert.equal(lines[0], "1 of 3: http 0 of host-a (a) drains");
    assert.equal(lines.at(-1), "3 of 3: http 0 of host-b (b) is replaced, pid 1");
  });

  it("ends at the first worker that is refused, goes on after all, or has no successor", async () => {
    const second = (then: (worker: Worker) => [number, string?]) => (worker: Worker) =>
      worker.index === 1 ? then(worker) : replaced(worker);
    const refused = await restart({ drain: second(() => [409, "worker:last"]) });
    assert.equal(refused.end, "worker:last no\nfleet:incomplete 1 of 3 workers are replaced");
    const still = await restart({ drain: second(() => [202]) });
    assert.match(String(still.end), /^worker:last .* goes on, .*\nfleet:incomplete 1 of 3/);
    const gone = await restart({
      drain: second((worker) => {
        worker.is_ready = false;
        return [202];
      }),
    });
    assert.match(String(gone.end), /^worker:not_replaced http 1 of host-a \(a\)/);
    assert.deepEqual(
      orders,
      Array.from({ length: 3 }, () => ["drain 0 of a: it grew", "drain 1 of a: it grew"]).flat(),
    );
  });

  it("does not begin while it does not know all of them, and names those", async () => {
    const instances = ["a", "b", "c"].map((id) => ({ id, host: `host-${id}` }));
    for (const [fleet, refusal] of [
      [{ instances, unregistered: [] }, /^fleet:unanswered .*: host-c \(c\)$/],
      [{ instances: [], unregistered: ["w7", "w8"] }, /^fleet:unregistered .*: w7, w8;/],
      [{ instances: null, unregistered: [] }, /^fleet:unknown Redis does not respond/],
    ] as const) {
      const { end } = await restart({
        fleet: {
          ...fleet,
          instances: fleet.instances && [...fleet.instances],
          unregistered: [...fleet.unregistered],
        },
      });
      assert.match(String(end), refusal);
    }
    assert.deepEqual(orders, []);
  });
});
