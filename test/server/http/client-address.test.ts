import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  addressText,
  countedAddress,
  createAddressReader,
} from "../../../server/http/client-address.ts";

const v4 = (...bytes: number[]) => new Uint8Array(bytes).buffer;
const v6 = (text: string) => new Uint8Array(Buffer.from(text.replaceAll(":", ""), "hex")).buffer;

describe("the client address", () => {
  test("is the socket's when no proxy is trusted, whatever the header says", () => {
    const read = createAddressReader("");
    assert.deepEqual(read(v4(10, 0, 0, 1), "203.0.113.9"), { ip: "10.0.0.1", isFromProxy: false });
  });

  test("is the first one from the right that is not a trusted proxy", () => {
    const read = createAddressReader("10.0.0.0/8, 2001:db8::/32");
    const ip = (forwarded: string | undefined) => read(v4(10, 0, 0, 1), forwarded).ip;
    assert.equal(ip("203.0.113.9"), "203.0.113.9");
    assert.equal(ip("1.1.1.1, 203.0.113.9, 10.2.3.4"), "203.0.113.9");
    assert.equal(ip("1.1.1.1, 2001:db8::5 ,10.2.3.4"), "1.1.1.1");
    assert.equal(ip(undefined), "10.0.0.1");
    assert.equal(ip("unknown"), "10.0.0.1");
    assert.equal(ip("1.1.1.1, garbage, 10.2.3.4"), "10.2.3.4");
    assert.equal(ip("10.9.9.9, 10.2.3.4"), "10.9.9.9");
  });

  test("is not believed from a socket outside the list", () => {
    const read = createAddressReader("10.0.0.0/8");
    assert.deepEqual(read(v4(11, 0, 0, 1), "203.0.113.9"), { ip: "11.0.0.1", isFromProxy: false });
  });

  test("of IPv6 is its /64", () => {
    assert.equal(countedAddress("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
    assert.equal(countedAddress("2001:db8::1"), "2001:db8:0:0::/64");
    assert.equal(countedAddress("::1"), "0:0:0:0::/64");
    assert.equal(
      createAddressReader("")(v6("2001:0db8:0001:0002:0003:0004:0005:0006"), undefined).ip,
      "2001:db8:1:2::/64",
    );
  });

  test("inside IPv6 is IPv4 again", () => {
    assert.equal(addressText(v6("0000:0000:0000:0000:0000:ffff:cb00:7109")), "203.0.113.9");
    assert.equal(countedAddress("::ffff:203.0.113.9"), "203.0.113.9");
    assert.equal(countedAddress("::ffff:cb00:7109"), "203.0.113.9");
  });
});

test("a list with a typing error is refused at start", () => {
  for (const list of ["10.0.0.0/99", "proxy.local", "10.0.0.1/x", "300.1.1.1"])
    assert.throws(() => createAddressReader(list), /TRUSTED_PROXIES/, list);
});
