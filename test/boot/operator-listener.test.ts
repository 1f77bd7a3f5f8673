import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, Server, Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { afterEach, beforeEach, describe, it } from "node:test";
import type { Give } from "../../server/runtime/boot/child.ts";
import { maxWaiting, OperatorListener } from "../../server/runtime/boot/operator-listener.ts";
import { silentLogger } from "../../server/platform/log/logger.ts";
import { freePort } from "../support/free-port.ts";

describe("the operators' address", () => {
  let port: number;
  let wakes: PromiseWithResolvers<Give>[];
  let started: PromiseWithResolvers<void>;
  let taken: ("listener" | "connection")[];
  let listener: OperatorListener;
  const open: Socket[] = [];

  /** Instead of the process: closes what it receives, like a handle that was transferred. */
  const give: Give = async (handle) => {
    taken.push(handle instanceof Server ? "listener" : "connection");
    if (handle instanceof Socket) handle.destroy();
  };

  beforeEach(async () => {
    port = await freePort();
    wakes = [];
    taken = [];
    started = Promise.withResolvers();
    listener = new OperatorListener({
      address: `127.0.0.1:${port}`,
      log: silentLogger,
      wake: () => {
        const wake = Promise.withResolvers<Give>();
        wakes.push(wake);
        started.resolve();
        return wake.promise;
      },
    });
    await listener.listen();
  });
  afterEach(() => {
    listener.close();
    for (const socket of open.splice(0)) socket.destroy();
  });

  async function openConnection(): Promise<Socket> {
    const socket = connect(port, "127.0.0.1");
    open.push(socket);
    await once(socket, "connect");
    // Its other end is in this process too, and accepts it a turn later.
    for (let n = 0; n < 3; n++) await turn();
    return socket;
  }

  it("starts the process once for all connections, and hands over the listener before them", async () => {
    const sockets = [await openConnection(), await openConnection()];
    await started.promise;
    const closed = sockets.map((socket) => ended(socket));
    wakes[0]?.resolve(give);
    await Promise.all(closed);
    assert.equal(wakes.length, 1);
    assert.deepEqual(taken, ["listener", "connection", "connection"]);
    await assert.rejects(openConnection(), /ECONNREFUSED/, "the process has the listener now");
  });

  it("holds no more connections than the process serves at once", async () => {
    for (let n = 0; n < maxWaiting; n++) await openConnection();
    const last = await openConnection();
    await ended(last);
    assert.equal(wakes.length, 1);
  });

  it("closes waiting connections when the process does not start, and tries again for the next one", async () => {
    const socket = await openConnection();
    await started.promise;
    const closed = ended(socket);
    wakes[0]?.reject(new Error("it does not start"));
    await closed;
    started = Promise.withResolvers();
    await openConnection();
    await started.promise;
    assert.equal(wakes.length, 2);
  });

  it("holds connections again when the process has ended", async () => {
    const socket = await openConnection();
    await started.promise;
    const closed = ended(socket);
    wakes[0]?.resolve(give);
    await closed;
    listener.processEnded();
    started = Promise.withResolvers();
    await until(() => openConnection());
    await started.promise;
    assert.equal(wakes.length, 2);
  });
});

async function ended(socket: Socket): Promise<void> {
  if (!socket.closed) await once(socket.resume(), "close");
}

/** The address is bound again in a later turn. */
async function until(work: () => Promise<unknown>): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (
    !(await work().then(
      () => true,
      () => false,
    ))
  )
    assert.ok(performance.now() < deadline, "never listened again");
}
