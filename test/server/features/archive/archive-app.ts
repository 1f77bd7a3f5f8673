import assert from "node:assert/strict";
import { after, before } from "node:test";
import { startApp, type App } from "../../../support/app.ts";
import { entity, load as loadInto, type EnvelopeInput } from "../../../support/archive.ts";

export const base = "/v1/codex";

const codeOf = (response: { json: unknown }) =>
  (response.json as { flash?: { errors: { code: string }[] } }).flash?.errors[0]?.code;

export type Body = Record<string, unknown>;

export const icon = Buffer.from("a picture of a torch");
export const iconHash = "c8c631279f7d30a908d16dabc58c27599db3ad2fc0dff794340e7713fa7b5178";

export const torch = (power: number, rest = {}) =>
  entity("id.item.torch", {
    upstream_key: "Id_Item_Torch",
    data: { power, description: "Burns for ever", rank: "12", "odd key": { "0": true } },
    tags: ["tool", "light"],
    links: [
      { rel: "drop", target: "id.monster.imp" },
      { rel: "part", target: "id.item.nowhere" },
      { rel: "part", target: "id.item.wick" },
    ],
    ...rest,
  });

export const imp = entity("id.monster.imp", { data: { hp: 5 } });
export const wick = entity("id.item.wick", { data: { power: "many", levels: [{ xp: 7 }] } });
export const oil = entity("id.item.oil", {
  data: { power: 3, isOld: true, small: 1e-7, zero: "0" },
});
export let app: App;
export const load = (input: EnvelopeInput) => loadInto(app, input);

export const get = (path: string, headers: Record<string, string> = {}) =>
  app.client.get(base + path, { headers });

export const read = async (path: string) => {
  const answer = await get(path);
  assert.equal(answer.status, 200, `${path}: ${answer.text.slice(0, 300)}`);
  return answer.body as Body;
};

export const refused = async (path: string, status: number, code: string) => {
  const answer = await get(path);
  assert.deepEqual([answer.status, codeOf(answer)], [status, code], path);
};

export const ids = async (path: string) =>
  ((await read(path))["entities"] as { id: string }[]).map(({ id }) => id);

/** The service and a small game. */
export function startsArchiveApp(): void {
  before(async () => {
    app = await startApp({ hasJobs: false });
    const files = { "t.png": icon };
    const assets = [{ path: "t.png", media_type: "image/png" }];
    const withIcon = { icon: "t.png", assets: [{ path: "t.png", role: "icon" as const }] };
    await load({ version: "1.0", released: "2025-05-01T00:00:00Z", entities: [torch(1), imp] });
    await load({
      version: "1.1",
      entities: [torch(2, withIcon), wick, oil],
      files,
      assets,
      locales: { en: { a: "b" }, "zh-Hans": {} },
    });
    await load({
      branch: { slug: "beta", parent: "main", fork_version: "1.0" },
      version: "1.0.1-3",
      entities: [torch(9), imp, wick],
    });
  });
  after(() => app.stop());
}
