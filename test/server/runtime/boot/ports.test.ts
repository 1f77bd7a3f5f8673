import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:net";
import { describe, it } from "node:test";
import { claimPorts } from "../../../../server/runtime/boot/ports.ts";

const wanted = (port: number, setting = "PORT") => ({
  ...{ setting, hostSetting: setting, host: "127.0.0.1", port },
});

describe("reserved ports", () => {
  it("are distinct and outside the ephemeral range when any port will do", async () => {
    const ports = await claimPorts(...Array.from({ length: 50 }, () => wanted(0)));
    assert.equal(new Set(ports).size, 50);
    for (const port of ports) assert.ok(port >= 10_000 && port < 32_768, String(port));
  });

  it("are free again immediately", async () => {
    const [port = 0] = await claimPorts(wanted(0));
    assert.deepEqual(await claimPorts(wanted(port)), [port]);
  });

  it("are refused by name when they are in use, even by the service itself", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const address = other.address();
    const taken = typeof address === "object" && address !== null ? address.port : 0;
    await assert.rejects(claimPorts(wanted(taken)), {
      message: `PORT: 127.0.0.1:${taken} is taken by another program; set PORT to another one`,
    });
    other.close();
    const [port = 0] = await claimPorts(wanted(0));
    await assert.rejects(claimPorts(wanted(port), wanted(port, "OTHER")), {
      message: `OTHER: 127.0.0.1:${port} is PORT already; set OTHER to another one`,
    });
  });
});
