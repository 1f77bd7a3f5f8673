import assert from "node:assert/strict";
import dns from "node:dns/promises";
import { createServer } from "node:http";
import { syncBuiltinESMExports } from "node:module";
import { isIPv6, type AddressInfo } from "node:net";
import { describe, it, mock } from "node:test";
import { noFaults } from "../../../../../server/platform/faults/recorder.ts";
import {
  createProviderPictures,
  isPrivate,
} from "../../../../../server/features/avatars/domain/provider-pictures.ts";
import { systemClock } from "../../../../../server/platform/time/clock.ts";
import { noOrigin } from "../../../../../server/platform/origin.ts";

describe("the host of a provider's picture", () => {
  const leadingTo =
    (...list: string[]) =>
    async () =>
      list.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
  const name = "cdn.example";

  it("is private when any of its addresses is private, in IPv4 or IPv6 form", async () => {
    for (const address of [
      ...["0.0.0.0", "10.1.2.3", "100.64.0.1", "127.0.0.1", "169.254.169.254", "172.16.0.1"],
      ...["172.31.255.255", "192.168.1.1", "224.0.0.1", "255.255.255.255"],
      ...["::", "::1", "fc00::1", "fd12::1", "fe80::1", "ff02::1"],
      ...["::ffff:10.0.0.1", "::ffff:127.0.0.1", "::ffff:a9fe:a9fe"],
    ]) {
      assert.equal(await isPrivate(name, leadingTo(address)), true, address);
      assert.equal(await isPrivate(name, leadingTo("93.184.215.14", address)), true, address);
    }
    for (const address of ["93.184.215.14", "172.32.0.1", "100.128.0.1", "2606:2800:21f::1"])
      assert.equal(await isPrivate(name, leadingTo(address)), false, address);
  });

  it("is private when it has no address or is an IP address; local names are allowed", async () => {
    assert.equal(await isPrivate(name, leadingTo()), true);
    assert.equal(await isPrivate("93.184.215.14"), true);
    assert.equal(await isPrivate("localhost", leadingTo("10.0.0.1")), false);
  });

  it("has no picture when it does not answer in time", async () => {
    const silent = createServer(() => {});
    await new Promise<void>((done) => silent.listen(0, "127.0.0.1", done));
    try {
      const config = { AVATAR_CDN_HOSTS: "127.0.0.1", APP_ENV: "test" as const };
      const pictures = createProviderPictures(config, { clock: systemClock, faults: noFaults }, 50);
      const { port } = silent.address() as AddressInfo;
      assert.equal(await pictures.usable(`http://127.0.0.1:${port}/a.png`, noOrigin), null);
    } finally {
      silent.closeAllConnections();
      await new Promise((done) => silent.close(done));
    }
  });

  it("has no picture when its name is not resolved in time", async () => {
    mock.method(dns, "lookup", () => new Promise(() => {}));
    syncBuiltinESMExports();
    try {
      const config = { AVATAR_CDN_HOSTS: "cdn.example", APP_ENV: "test" as const };
      const pictures = createProviderPictures(config, { clock: systemClock, faults: noFaults }, 50);
      assert.equal(await pictures.usable("https://cdn.example/a.png", noOrigin), null);
    } finally {
      mock.restoreAll();
      syncBuiltinESMExports();
    }
  });
});
