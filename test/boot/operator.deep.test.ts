import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { sampleVersions } from "../../importers/samples/cinderhold/sample.ts";
import { startService, type Service } from "../support/process.ts";

describe("a first start", () => {
  let service: Service;
  before(async () => {
    service = await startService({ env: { SAMPLE_DATA: "true" }, sharesPostgres: true });
  });
  after(() => service.stop());

  it("shows the sample game that the first start of a development service imports", async () => {
    const deadline = performance.now() + 60_000;
    const read = async (path: string) => {
      const answer = await fetch(`${service.url}${path}`);
      return ((await answer.json()) as { body?: Record<string, unknown> }).body ?? {};
    };
    const versions = async () => {
      const lists = await Promise.all(
        ["main", "playtest"].map((branch) => read(`/v1/codex/gamedata/patches?branch=${branch}`)),
      );
      const patches = lists.flatMap((list) => (list["patches"] ?? []) as { version_raw: string }[]);
      return new Set(patches.map(({ version_raw }) => version_raw));
    };
    const expected = new Set(sampleVersions());
    while ((await versions()).size < expected.size) {
      assert.ok(performance.now() < deadline, "the sample game never came");
      await new Promise((done) => setTimeout(done, 50));
    }
    assert.deepEqual(await versions(), expected);
    assert.equal((await read("/v2/classes?is_playable"))["count"], 10);
  });
});
