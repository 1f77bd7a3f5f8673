import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { createClient, type Client } from "../../support/client.ts";
import { sendRaw } from "../../support/raw-http.ts";
import { codeOf, errorOf, violationsOf } from "./answers.ts";
import { sampleRoutes } from "./sample-routes.ts";
import { startSample, type SampleServer } from "./sample.ts";

let sample: SampleServer;
let client: Client;

const send = (
  body: string | Uint8Array,
  type = "application/json",
  headers: Record<string, string> = {},
) => client.post("/v1/echo", { body, headers: { "content-type": type, ...headers } });

const nested = (depth: number) =>
  `{"name":"x","zzz":${"[".repeat(depth - 1)}${"]".repeat(depth - 1)}}`;

describe("request bodies", () => {
  before(async () => {
    sample = await startSample({ routes: sampleRoutes });
    client = createClient(sample.url, sampleRoutes);
  });
  after(() => sample.stop());

  describe("a JSON body", () => {
    test("is accepted with every spelling of its media type", async () => {
      for (const type of [
        "application/json",
        "Application/JSON; Charset=UTF-8",
        "application/vnd.api+json",
        'application/json;charset="utf-8"',
      ])
        assert.equal((await send('{"name":"x"}', type)).status, 200, type);
    });

    test("may begin with a byte order mark, which is ignored", async () => {
      assert.equal((await send('\ufeff{"name":"x"}')).status, 200);
      assert.equal((await send(Buffer.from('\ufeff {"name":"\ufeffx"}'))).status, 200);
      for (const body of ['\ufeff\ufeff{"name":"x"}', '{\ufeff"name":"x"}', "\ufeff[]"])
        assert.equal(codeOf(await send(body)), "request:malformed_json");
      // Nothing behind it is an empty body.
      assert.equal((await send("\ufeff")).status, 422);
    });

    test("with another media type or encoding is refused with 415", async () => {
      for (const type of [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=a",
        "application/json; charset=latin1",
        "json",
      ])
        assert.equal(
          codeOf(await send('{"name":"x"}', type)),
          "request:unsupported_media_type",
          type,
        );
      for (const encoding of ["gzip", "br", "identity, gzip"])
        assert.equal(
          codeOf(await send('{"name":"x"}', "application/json", { "content-encoding": encoding })),
          "request:unsupported_media_type",
        );
      const untyped = await sendRaw(
        sample.port,
        "POST /v1/echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}",
        { responses: 1 },
      );
      assert.equal(untyped.responses[0]?.status, 415);
    });

    test("that is not an object, not UTF-8 or not JSON is refused with 400", async () => {
      const invalid = [
        "[]",
        "null",
        "1",
        '"x"',
        "{",
        "{}{}",
        "{'a':1}",
        '{"a":NaN}',
        Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]),
      ];
      for (const body of invalid)
        assert.equal(codeOf(await send(body)), "request:malformed_json", String(body));
    });

    test("may nest up to 32 levels", async () => {
      assert.equal((await send(nested(32))).status, 200);
      assert.equal(codeOf(await send(nested(33))), "request:malformed_json");
      assert.equal(codeOf(await send("[".repeat(60_000))), "request:malformed_json");
      assert.equal((await send(`{"name":"${"[{".repeat(9)}"}`)).status, 200);
    });

    test("that is empty is treated as an empty object", async () => {
      const answer = await send("", "text/plain");
      assert.deepEqual(violationsOf(answer), ["name"]);
    });

    test("loses all undeclared fields, including __proto__", async () => {
      const { body } = await send(
        '{"name":"x","__proto__":{"isAdmin":true},"constructor":1,"settings":{"other":2}}',
      );
      assert.deepEqual(body, { name: "x", settings: { blend: true } });
    });
  });
  describe("fields", fields);
  describe("the size of a body", () => {
    const fill = (size: number) => `{"name":"x","zzz":"${"y".repeat(size - 21)}"}`;

    test("is at most 64 KiB", async () => {
      assert.equal(fill(65_536).length, 65_536);
      assert.equal((await send(fill(65_536))).status, 200);
      const answer = await send(fill(65_537));
      assert.equal(codeOf(answer), "request:too_large");
      assert.equal(answer.headers.get("connection"), "close");
    });

    test("is checked against Content-Length before the body arrives", async () => {
      const head =
        "POST /v1/echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 999999999\r\n\r\n";
      const { responses, isClosedByServer } = await sendRaw(sample.port, head);
      assert.equal(responses[0]?.status, 413);
      assert.ok(isClosedByServer);
    });

    test("is counted while chunks arrive", async () => {
      const chunk = `4000\r\n${"x".repeat(0x4000)}\r\n`;
      const head =
        "POST /v1/echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
      const { responses, isClosedByServer } = await sendRaw(sample.port, head + chunk.repeat(6));
      assert.equal(responses[0]?.status, 413);
      assert.ok(isClosedByServer);
    });

    test("is also limited where no body is expected, and small bodies are ignored", async () => {
      const options = { headers: { "content-type": "text/plain" } };
      assert.equal((await client.post("/v1/write", { ...options, body: "hello" })).status, 200);
      assert.equal(
        (await client.post("/v1/write", { ...options, body: "x".repeat(70_000) })).status,
        413,
      );
      assert.equal((await client.post("/v1/nowhere", { ...options, body: "hello" })).status, 404);
    });

    test("that arrives in pieces and in chunks is reassembled", async () => {
      const head =
        "POST /v1/echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
      const { responses } = await sendRaw(
        sample.port,
        `${head}5\r\n{"nam\r\n7\r\ne":"x"}\r\n0\r\n\r\n`,
        { responses: 1 },
      );
      assert.equal(responses[0]?.status, 200);
      assert.match(responses[0]?.body ?? "", /"body":\{"name":"x"\}/);
    });
  });
  describe("framing that two parsers could read differently", () => {
    const cases: [what: string, headers: string][] = [
      ["two lengths", "Content-Length: 2\r\nContent-Length: 20"],
      ["a length and a coding", "Content-Length: 2\r\nTransfer-Encoding: chunked"],
      ["an unknown coding", "Transfer-Encoding: gzip, chunked"],
      ["a coding given twice", "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity"],
      ["a length that is no number", "Content-Length: +2"],
    ];
    const request = (headers: string) =>
      `POST /v1/echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${headers}\r\n\r\n`;

    for (const [what, headers] of cases)
      test(`is refused and ends the connection: ${what}`, async () => {
        const { responses, isClosedByServer } = await sendRaw(sample.port, request(headers));
        assert.deepEqual(
          responses.map((one) => one.status),
          [400],
        );
        assert.ok(isClosedByServer);
      });

    for (const [what, headers] of cases)
      test(`never lets a request behind it through: ${what}`, async () => {
        const smuggled = "{}GET /v1/ping HTTP/1.1\r\nHost: x\r\n\r\n";
        const { text, isClosedByServer } = await sendRaw(sample.port, request(headers) + smuggled);
        assert.ok(!text.includes("pong"), text);
        assert.ok(isClosedByServer);
      });
  });
});

function fields(): void {
  test("report all their problems at once, by path", async () => {
    const answer = await send(
      '{"name":"","count":"5","channels":["a","B"],"settings":{"blend":1}}',
    );
    assert.equal(answer.status, 422);
    assert.equal(codeOf(answer), "validation:failed");
    assert.deepEqual(violationsOf(answer), ["channels[1]", "count", "name", "settings.blend"]);
  });

  test("with a wrong format get an error that describes the format in words, not as a pattern", async () => {
    const { json } = await send('{"name":"x","channels":["a","B"]}');
    assert.deepEqual((json as { flash: { violations: unknown } }).flash.violations, [
      { propertyPath: "channels[1]", title: "must be small letters" },
    ]);
  });

  test("with one of a few values get an error that names these values", async () => {
    const { json } = await send('{"name":"x","tone":"shrill"}');
    assert.deepEqual((json as { flash: { violations: unknown } }).flash.violations, [
      { propertyPath: "tone", title: 'must be "low" or "high"' },
    ]);
  });

  test("contain no NUL, no lone surrogate and no integer beyond the safe range", async () => {
    for (const [field, value] of [
      ["name", '"a\\u0000"'],
      ["note", '"\\ud800"'],
      ["count", "9007199254740993"],
      ["count", "1e999"],
      ["count", "1e300"],
    ]) {
      const body = field === "name" ? `{"name":${value}}` : `{"name":"x","${field}":${value}}`;
      assert.deepEqual(violationsOf(await send(body)), [field], body);
    }
  });

  test("return the error code of the endpoint where it has one", async () => {
    const answer = await client.post("/v1/strict", { body: {} });
    assert.equal(answer.status, 400);
    assert.equal(errorOf(answer).code, "request:missing_field");
  });
}
