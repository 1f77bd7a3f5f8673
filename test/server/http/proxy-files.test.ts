import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, it } from "node:test";
import { eventually } from "../../support/eventually.ts";
import { freePort } from "../../support/free-port.ts";
import {
  findProgram,
  proxyKinds,
  startWebProxy,
  type WebProxy,
} from "../../support/web-proxies.ts";

/** An instance without a service: it records what reaches it. */
class FakeInstance {
  isReady = true;
  /** Breaks the connection of each request that it has received. */
  breaks = false;
  /** Methods of the received requests, without probes. */
  readonly received: string[] = [];
  readonly connections: (string | undefined)[] = [];
  readonly #server: Server;

  constructor() {
    this.#server = createServer((request, response) => this.#answer(request, response));
  }

  async start(): Promise<string> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    if (request.url === "/ready") {
      response.statusCode = this.isReady ? 200 : 503;
      response.end();
      return;
    }
    this.received.push(request.method ?? "");
    this.connections.push(request.headers.connection);
    if (this.breaks) request.socket.destroy();
    else if (request.url === "/events") this.#openStream(response);
    else response.end("ok");
  }

  /** As the service does: its header turns nginx's buffering off. The stream has no end. */
  #openStream(response: ServerResponse): void {
    response.writeHead(200, { "content-type": "text/event-stream", "x-accel-buffering": "no" });
    response.write("data: first\n\n");
  }
}

for (const kind of proxyKinds)
  describe(`the shipped file of ${kind.name}`, { skip: skipReason(kind) }, () => {
    const [one, two] = [new FakeInstance(), new FakeInstance()];
    let proxy: WebProxy;
    before(async () => {
      proxy = await startWebProxy(kind, [await one.start(), await two.start()]);
    });
    after(async () => {
      await proxy?.stop();
      one.stop();
      two.stop();
    });

    const send = async (method: string, path = "/v1/commands") => {
      const body = method === "POST" ? { body: "{}" } : {};
      const answer = await fetch(proxy.url + path, { method, ...body });
      await answer.arrayBuffer();
      return answer.status;
    };
    const reset = () => {
      for (const instance of [one, two]) instance.received.length = 0;
    };

    it("sends the requests to all instances, each on a connection of its own", async () => {
      for (let n = 0; n < 40; n++) assert.equal(await send("POST"), 200);
      assert.ok(one.received.length > 0 && two.received.length > 0);
      const connections = new Set([...one.connections, ...two.connections]);
      assert.deepEqual([...connections], ["close"]);
    });

    it("passes on each event of a stream at once", async () => {
      const answer = await fetch(`${proxy.url}/events`);
      const reader = answer.body?.getReader();
      const { value } = (await reader?.read()) ?? {};
      assert.equal(Buffer.from(value ?? []).toString(), "data: first\n\n");
      await reader?.cancel();
    });

    it("repeats no command that an instance has received", async () => {
      reset();
      for (const instance of [one, two]) instance.breaks = true;
      // HAProxy may close a kept connection instead of answering.
      const status = await send("POST").catch(() => 502);
      for (const instance of [one, two]) instance.breaks = false;
      assert.equal(status, 502);
      assert.equal(one.received.length + two.received.length, 1);
    });

    if (kind.name !== "nginx")
      it("sends nothing to an instance that is not ready", async () => {
        one.isReady = false;
        await eventually("all requests reach the other one", async () => {
          reset();
          for (let n = 0; n < 10; n++) assert.equal(await send("POST"), 200);
          return one.received.length === 0;
        });
        one.isReady = true;
      });
  });

for (const kind of proxyKinds)
  it(
    `a failed connect behind ${kind.name} reaches another instance, commands too`,
    {
      skip: skipReason(kind),
    },
    async () => {
      const instance = new FakeInstance();
      const closed = `127.0.0.1:${await freePort()}`;
      const proxy = await startWebProxy(kind, [closed, await instance.start()]);
      const statuses = await Promise.all(
        Array.from({ length: 20 }, async () => {
          const answer = await fetch(proxy.url, { method: "POST", body: "{}" });
          await answer.arrayBuffer();
          return answer.status;
        }),
      );
      await proxy.stop();
      instance.stop();
      assert.deepEqual([...new Set(statuses)], [200]);
    },
  );

/** Continuous integration has all of them. */
function skipReason(kind: (typeof proxyKinds)[number]): string | false {
  const isMissing = findProgram(kind) === null && process.env["CI"] !== "true";
  return isMissing && `${kind.name} is not on this machine`;
}
