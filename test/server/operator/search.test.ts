import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { searchRoutes, type SearchDeps } from "../../../server/operator/search/routes.ts";
import { maxFoundEach, type SearchSource } from "../../../server/operator/search/search.ts";
import { startOperatorPart } from "../../support/operator.ts";

const room = {
  what: "lobby",
  name: "ABC234",
  note: "active",
  path: "/operator/rooms/lobby/ABC234",
};
const odd = { what: "player", name: "<img src=x>", note: null, path: "/operator/players/7" };

describe("the search of operators", () => {
  let part: Awaited<ReturnType<typeof startOperatorPart>>;
  const asked: string[] = [];
  const sources: SearchSource[] = [
    {
      name: "rooms",
      search: async (text) => {
        asked.push(text);
        return text === "ABC234" || text === "both" ? [room] : [];
      },
    },
    {
      name: "players",
      search: async (text) => {
        if (text === "broken") throw new Error("Postgres is away");
        if (text === "many") return Array.from({ length: maxFoundEach + 5 }, () => odd);
        return text === "both" ? [odd] : [];
      },
    },
  ];
  before(async () => {
    const deps = { searchSources: sources };
    part = await startOperatorPart<SearchDeps>({ routes: searchRoutes, deps });
  });
  after(() => part.stop());

  const send = (body: string, headers: Record<string, string>) =>
    fetch(`${part.url}/operator/search`, {
      method: "POST",
      redirect: "manual",
      body,
      headers: { authorization: "Bearer token-of-viewer", ...headers },
    });
  const asBrowser = (q: string) =>
    send(new URLSearchParams({ q }).toString(), {
      accept: "text/html",
      "content-type": "application/x-www-form-urlencoded",
    });
  const asProgram = async (q: string) => {
    const answer = await send(JSON.stringify({ q }), { "content-type": "application/json" });
    return ((await answer.json()) as { body: { found: unknown[]; not_searched: string[] } }).body;
  };

  it("sends a browser to the only thing found, without its text in an address", async () => {
    const answer = await asBrowser(" ABC234 ");
    assert.equal(answer.status, 303);
    assert.equal(answer.headers.get("location"), room.path);
    assert.equal(asked.at(-1), "ABC234");
  });

  it("lists several things as text, never as markup", async () => {
    const text = await (await asBrowser("both")).text();
    assert.ok(text.includes(`href="${room.path}"`) && text.includes(`href="${odd.path}"`));
    assert.ok(text.includes("&#60;img") && !text.includes("<img"));
  });

  it("says that nothing was found, and what could not be searched", async () => {
    assert.match(await (await asBrowser("nothing")).text(), /Nothing has exactly this id/);
    assert.match(await (await asBrowser("broken")).text(), /players were not searched/);
    assert.deepEqual(await asProgram("broken"), { found: [], not_searched: ["players"] });
  });

  it("answers programs with JSON, with a bounded number of each sort", async () => {
    assert.deepEqual(await asProgram("both"), { found: [room, odd], not_searched: [] });
    assert.equal((await asProgram("many")).found.length, maxFoundEach);
  });

  it("needs a text and an operator", async () => {
    const json = { "content-type": "application/json" };
    assert.equal((await send(JSON.stringify({ q: "  " }), json)).status, 422);
    assert.equal((await send(JSON.stringify({ q: "x".repeat(201) }), json)).status, 422);
    assert.equal(
      (await send(JSON.stringify({ q: "x" }), { ...json, authorization: "" })).status,
      401,
    );
  });
});
