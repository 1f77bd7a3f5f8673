import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { after, before, beforeEach, describe, it } from "node:test";
import { TakenConnections } from "../../../server/http/node/taken-connections.ts";

describe("a connection of another process", () => {
  let server: Server;
  let accepted: PromiseWithResolvers<Socket>;
  before(async () => {
    server = createServer((socket) => accepted.resolve(socket.resume()));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
  });
  after(() => server.close());
  beforeEach(() => (accepted = Promise.withResolvers()));

  async function open(): Promise<{ client: Socket; socket: Socket }> {
    const address = server.address();
    assert.ok(typeof address === "object" && address !== null);
    const client = connect(address.port, "127.0.0.1").resume();
    return { client, socket: await accepted.promise };
  }

  it("ends when no complete request arrives in time, but not while one is served", async (t) => {
    const { client, socket } = await open();
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const taken = new TakenConnections({ max: 1, receiveLimitMs: 15_000 });
    taken.add(socket);
    t.mock.timers.tick(14_999);
    taken.markServing(socket);
    t.mock.timers.tick(60_000);
    assert.equal(socket.destroyed, false);
    taken.markWaiting(socket);
    t.mock.timers.tick(14_999);
    assert.equal(socket.destroyed, false);
    t.mock.timers.tick(1);
    assert.equal(socket.destroyed, true);
    t.mock.timers.reset();
    client.destroy();
  });
});
