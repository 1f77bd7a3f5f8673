import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { pino } from "pino";
import { listenDedicated } from "../../../server/app/worker-port.ts";
import { workerPorts } from "../../../server/platform/net/worker-ports.ts";

const config = { HOST: "127.0.0.1", WORKER_PORTS: "8081", HTTP_WORKERS: 3 };

describe("the port of a worker", () => {
  it("is that of its slot, so that a process started in its place has the same", () => {
    assert.deepEqual(workerPorts(config), [8081, 8082, 8083]);
    assert.deepEqual(workerPorts({ ...config, WORKER_PORTS: "off" }), []);
  });

  it("is missing where it cannot be listened on, which the log says once", async () => {
    const lines: Record<string, unknown>[] = [];
    const write = (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>);
    const log = pino({ base: null }, { write });
    const server = { listenDedicated: () => Promise.reject(new Error("Cannot listen on it")) };
    assert.equal(await listenDedicated(server, { config, log }, 1), null);
    assert.deepEqual(
      lines.map(({ event, port, index }) => ({ event, port, index })),
      [{ event: "worker_port_unavailable", port: 8082, index: 1 }],
    );
  });

  it("is listened on where there is one", async () => {
    const asked: (string | number)[][] = [];
    const server = {
      listenDedicated: async (host: string, port: number) => void asked.push([host, port]),
    };
    const log = pino({ enabled: false });
    assert.equal(await listenDedicated(server, { config, log }, 0), 8081);
    const off = { ...config, WORKER_PORTS: "off" };
    assert.equal(await listenDedicated(server, { config: off, log }, 0), null);
    assert.deepEqual(asked, [["127.0.0.1", 8081]]);
  });
});
