import assert from "node:assert/strict";
import { after, before, test, describe } from "node:test";
import { createClient, type Client } from "../../support/client.ts";
import { codeOf, errorOf } from "./answers.ts";
import { sampleRoutes } from "./sample-routes.ts";
import { startSample, type SampleServer } from "./sample.ts";

let sample: SampleServer;
let client: Client;

const read = async (query: string) =>
  (await client.get(`/v1/things?${query}`)).body as Record<string, unknown>;

describe("query parameters", () => {
  before(async () => {
    sample = await startSample({ routes: sampleRoutes });
    client = createClient(sample.url, sampleRoutes);
  });
  after(() => sample.stop());

  test("defaults replace missing parameters, and unknown parameters are ignored", async () => {
    assert.deepEqual(await read("zzz=1&__proto__=2&constructor=3"), { limit: 20, offset: 0 });
  });

  test("paging parameters are clamped to their bounds", async () => {
    assert.deepEqual(await read("limit=500&offset=-3"), { limit: 100, offset: 0 });
    assert.deepEqual(await read("limit=0&offset=99999999999999999999"), { limit: 1, offset: 1000 });
  });

  test("values are parsed strictly as the declared type", async () => {
    assert.deepEqual(await read("strict=3&rate=1.5&is_public=0&tab=xp"), {
      limit: 20,
      offset: 0,
      strict: 3,
      rate: 1.5,
      is_public: false,
      tab: "xp",
    });
    for (const word of ["is_public", "is_public=", "is_public=1", "is_public=true"])
      assert.equal((await read(word))["is_public"], true, word);
  });

  test("repeated parameters fill a list; a scalar takes the first", async () => {
    assert.deepEqual(await read("tags=a&tags=b+c&limit=5&limit=7"), {
      limit: 5,
      offset: 0,
      tags: ["a", "b c"],
    });
  });

  test("a plus is literal where a space is not allowed", async () => {
    const zone = { limit: 20, offset: 0, zone: "Etc/GMT+5" };
    assert.deepEqual(await read("zone=Etc/GMT+5"), zone);
    assert.deepEqual(await read("zone=Etc%2FGMT%2B5"), zone);
    assert.equal((await read("to=+49151"))["to"], "+49151");
    assert.equal((await client.get("/v1/things?zone=Etc/GMT%205")).status, 400);
  });

  test("an invalid parameter is answered with 400 and its name", async () => {
    const bad = [
      "limit=x",
      "limit=1.5",
      "limit=",
      "limit=1e1",
      "limit=0x10",
      "limit=%201",
      "offset=null",
      "strict=0",
      "strict=6",
      "rate=NaN",
      "rate=1e5",
      "is_public=yes",
      "is_public=TRUE",
      "tab=other",
      "tab=%00",
      "tags=a&tags=%00",
      "tags=1&tags=2&tags=3&tags=4",
      "tab=%ff",
      "tab=%",
      "rate=99999999999999999999",
    ];
    for (const query of bad) {
      const answer = await client.get(`/v1/things?${query}`);
      assert.equal(codeOf(answer), "request:invalid_query", query);
      assert.deepEqual(errorOf(answer).params, { parameter: query.split("=")[0] }, query);
    }
  });
});
