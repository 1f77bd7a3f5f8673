import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { joinFleet } from "../../../server/runtime/fleet/registry.ts";
import { entryOf } from "../runtime/fleet/entries.ts";
import { startWholeOperator, tokenOf, type WholeOperator } from "./whole-operator.ts";

interface Body {
  instances: Record<string, unknown>[];
  problems: { kind: string }[];
  unregistered: string[];
}

describe("/operator/fleet", () => {
  let whole: WholeOperator;
  before(async () => {
    whole = await startWholeOperator({ processes: [] });
    const { redis } = whole.app.deps;
    await joinFleet(redis, "one", entryOf({ host: "alpha", nodes: ["n1"], ready: "draining" }));
    await joinFleet(redis, "two", entryOf({ host: "beta", clockOffsetMs: 800 }));
  });
  after(() => whole.stop());

  const get = (accept: string) =>
    fetch(`${whole.url}/operator/fleet`, {
      headers: { accept, authorization: `Bearer ${tokenOf("viewer")}` },
    });

  it("has the instances and their problems, and nothing of a secret", async () => {
    const response = await get("application/json");
    const text = await response.text();
    assert.equal(response.status, 200, text);
    const { body } = JSON.parse(text) as { body: Body };
    assert.deepEqual(
      body.instances.map(({ id, host, ready, commit }) => [id, host, ready, commit]),
      [
        ["one", "alpha", "draining", "c1"],
        ["two", "beta", "ready", "c1"],
      ],
    );
    assert.deepEqual(
      body.problems.map(({ kind }) => kind),
      ["clocks"],
    );
    assert.doesNotMatch(text, /s1|secret/);
  });

  it("names HTTP workers that no instance names: those of the service in this test", async () => {
    const { body } = (await (await get("application/json")).json()) as { body: Body };
    const own = whole.app.deps.rooms.nodes.map(({ nodeId }) => nodeId);
    assert.deepEqual(body.unregistered, own.slice(0, 1));
  });

  it("is a page that marks what is wrong", async () => {
    const text = await (await get("text/html")).text();
    assert.match(text, /<strong class="wrong">draining</);
    assert.match(text, /class="wrong">the clock of beta \(two\) is 800 ms ahead/);
  });

  it("needs an operator", async () => {
    assert.equal((await fetch(`${whole.url}/operator/fleet`)).status, 401);
  });
});
