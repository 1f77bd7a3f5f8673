import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { addressText, countedAddress } from "../../../server/platform/net/ip-addresses.ts";
import { createAddressReader } from "../../../server/http/pipeline/client-address.ts";
import { isForwardedHttps } from "../../../server/http/pipeline/forwarded.ts";

const bytesOf = (text: string) => new Uint8Array(Buffer.from(text)).buffer;

/** Forms in which proxies write an address, and the address that is counted. */
const forms: [written: string, counted: string][] = [
  ["203.0.113.7", "203.0.113.7"],
  ["203.0.113.7:4711", "203.0.113.7"],
  ["  203.0.113.7:4711\t", "203.0.113.7"],
  ['"203.0.113.7"', "203.0.113.7"],
  ['"203.0.113.7:4711"', "203.0.113.7"],
  ["[203.0.113.7]", "203.0.113.7"],
  ["[203.0.113.7]:4711", "203.0.113.7"],
  ["2001:db8:1:2::7", "2001:db8:1:2::/64"],
  ["2001:DB8:1:2::7", "2001:db8:1:2::/64"],
  ["[2001:db8:1:2::7]", "2001:db8:1:2::/64"],
  ["[2001:db8:1:2::7]:4711", "2001:db8:1:2::/64"],
  ['"[2001:db8:1:2::7]:4711"', "2001:db8:1:2::/64"],
  ["2001:db8:1:2:3:4:5:6:4711", "2001:db8:1:2::/64"],
  ["fe80::7%eth0", "fe80:0:0:0::/64"],
  ["[fe80::7%25eth0]:4711", "fe80:0:0:0::/64"],
  ["::ffff:203.0.113.7", "203.0.113.7"],
  ["::ffff:203.0.113.7:4711", "203.0.113.7"],
  ["[::ffff:203.0.113.7]:4711", "203.0.113.7"],
  ["[::ffff:cb00:7107]:4711", "203.0.113.7"],
  ["64:ff9b::203.0.113.7", "203.0.113.7"],
  ["203.0.113.7,", "203.0.113.7"],
  [",, 203.0.113.7 , ,", "203.0.113.7"],
];

describe("the client address", () => {
  test("is the socket's when no proxy is trusted, whatever the header contains", () => {
    const read = createAddressReader("");
    assert.deepEqual(read("10.0.0.1", "203.0.113.9"), { ip: "10.0.0.1", isFromProxy: false });
  });

  test("is the rightmost one that is not a trusted proxy", () => {
    const read = createAddressReader("10.0.0.0/8, 2001:db8::/32");
    const ip = (forwarded: string | undefined) => read("10.0.0.1", forwarded).ip;
    assert.equal(ip("203.0.113.9"), "203.0.113.9");
    assert.equal(ip("1.1.1.1, 203.0.113.9, 10.2.3.4"), "203.0.113.9");
    assert.equal(ip("1.1.1.1, 203.0.113.9:5, 10.2.3.4:80"), "203.0.113.9");
    assert.equal(ip("1.1.1.1, 2001:db8::5 ,10.2.3.4"), "1.1.1.1");
    assert.equal(ip("1.1.1.1, [2001:db8::5]:443, ::ffff:10.2.3.4"), "1.1.1.1");
    assert.equal(ip(undefined), "10.0.0.1");
    assert.equal(ip(" , "), "10.0.0.1");
    assert.equal(ip("10.9.9.9, 10.2.3.4"), "10.9.9.9");
  });

  test("is parsed in every format that proxies write", () => {
    const read = createAddressReader("10.0.0.0/8");
    for (const [written, counted] of forms)
      for (const list of [written, `1.1.1.1, ${written}`, `${written}, 10.2.3.4:80`])
        assert.equal(read("10.0.0.1", list).ip, counted, list);
  });

  test("is empty when the proxy names none, neither the proxy's own nor one further left", () => {
    const read = createAddressReader("10.0.0.0/8");
    const hidden = [
      "unknown",
      "_hidden",
      "_gazonk:80",
      "host.example:80",
      "203.0.113.007",
      "1.2.3",
    ];
    for (const hop of [...hidden, "[::1", "2001:db8::1::2", '"', "[]", ":80", "203.0.113.7:port"])
      for (const list of [hop, `1.1.1.1, ${hop}`, `1.1.1.1, ${hop}, 10.2.3.4`])
        assert.deepEqual(read("10.0.0.1", list), { ip: null, isFromProxy: true }, list);
    assert.equal(read("10.0.0.1", "unknown, 203.0.113.9").ip, "203.0.113.9");
  });

  test("is found behind a local proxy that connects through a Unix socket", () => {
    const read = createAddressReader("10.0.0.0/8");
    assert.equal(read("10.0.0.1", "1.1.1.1, 203.0.113.9, unix:").ip, "203.0.113.9");
  });

  test("is searched in a limited number of hops", () => {
    const read = createAddressReader("10.0.0.0/8");
    const own = Array.from({ length: 40 }, () => "10.2.3.4").join(",");
    assert.equal(read("10.0.0.1", `203.0.113.9,${own}`).ip, null);
  });

  test("is not taken from the header of a socket outside the list", () => {
    const read = createAddressReader("10.0.0.0/8");
    assert.deepEqual(read("11.0.0.1", "203.0.113.9"), { ip: "11.0.0.1", isFromProxy: false });
  });

  test("of IPv6 is reduced to its /64", () => {
    assert.equal(countedAddress("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
    assert.equal(countedAddress("2001:db8::1"), "2001:db8:0:0::/64");
    assert.equal(countedAddress("::1"), "0:0:0:0::/64");
    const written = addressText(bytesOf("2001:0db8:0001:0002:0003:0004:0005:0006"));
    assert.equal(countedAddress(written), "2001:db8:1:2::/64");
  });

  test("of IPv4 inside IPv6 is converted to IPv4", () => {
    assert.equal(addressText(bytesOf("0000:0000:0000:0000:0000:ffff:cb00:7109")), "203.0.113.9");
    assert.equal(countedAddress("::ffff:203.0.113.9"), "203.0.113.9");
    assert.equal(countedAddress("::ffff:cb00:7109"), "203.0.113.9");
    assert.equal(countedAddress("64:ff9b::cb00:7109"), "203.0.113.9");
  });
});

test("a trusted IPv4 range inside IPv6 counts as an IPv4 range", () => {
  const read = createAddressReader("::ffff:10.0.0.0/104");
  assert.equal(read("10.0.0.1", "203.0.113.9, ::ffff:10.1.2.3").ip, "203.0.113.9");
  assert.equal(read("11.0.0.1", "203.0.113.9").ip, "11.0.0.1");
});

test("a list with a typing error is refused at start", () => {
  for (const list of ["10.0.0.0/99", "proxy.local", "10.0.0.1/x", "300.1.1.1"])
    assert.throws(() => createAddressReader(list), /TRUSTED_PROXIES/, list);
});

test("the scheme of the player is the first one that the proxies wrote", () => {
  for (const list of ["https", "https,http", "HTTPS , http", '"https"', ", https,http,http"])
    assert.equal(isForwardedHttps(list), true, list);
  for (const list of [undefined, "", "http", "http,https", "https:", "httpsx", ",http,https"])
    assert.equal(isForwardedHttps(list), false, list);
});
