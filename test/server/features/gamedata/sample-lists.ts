import assert from "node:assert/strict";
import { projectionOf } from "../../../../db/projections/refresh.ts";
import type { Resource } from "../../../../db/projections/resource.ts";
import type { ImportEnvelope } from "../../../../importers/envelope/contract.ts";
import { importEnvelope } from "../../../../importers/pipeline/import.ts";
import { readSample } from "../../../../importers/samples/cinderhold/sample.ts";
import type { App } from "../../../support/app.ts";
import { importTime } from "../../../support/archive.ts";

/** The newest patch of the sample game, with its projection. */
export async function importNewestSample(app: App): Promise<void> {
  let newest: ImportEnvelope | undefined;
  for await (const envelope of readSample("gamedata"))
    if (envelope.header.branch.slug === "main") newest = envelope;
  assert.ok(newest);
  const options = { now: importTime, project: projectionOf("gamedata") };
  await importEnvelope(app.deps.em, newest, options);
}

/** Every parameter of every list answers any value with rows or with a refusal that names the parameter. */
export async function checkAnyValue(app: App, lists: readonly Resource[]): Promise<void> {
  const hostile = [
    "",
    ",",
    "\0",
    "'; drop table x; --",
    "\\",
    "%",
    "__proto__",
    "constructor",
    "NaN",
  ];
  hostile.push(
    "1e9",
    "0x1",
    "9".repeat(400),
    "🙂".repeat(60),
    "\ud800",
    "null,null",
    "-0",
    " 1",
    "ſ",
  );
  const encoded = [...hostile.map((one) => encodeURIComponent(one.toWellFormed())), "%ff", "%zz"];
  const some = ["", "%00", "'%20or%20''='", "__proto__", "9".repeat(400), "%ff"];
  for (const { path, filters } of lists) {
    const isComplete = ["items", "quests", "dungeon_cards"].includes(path);
    const parameters = [...filters.map(({ parameter }) => parameter), "cursor", "sort"];
    if (path === "items") parameters.push("limit", "locale");
    for (const parameter of parameters)
      for (const text of isComplete ? encoded : some) {
        const answer = await app.client.get(`/v2/${path}?${parameter}=${text}`);
        const flash = (
          answer.json as { flash?: { errors: { code: string; params: Record<string, unknown> }[] } }
        ).flash;
        const [problem] = flash?.errors ?? [];
        const place = `${path} ${parameter}=${text}`;
        assert.ok(answer.status === 200 || answer.status === 400, `${place}: ${answer.status}`);
        if (answer.status === 400) assert.equal(problem?.params["parameter"], parameter, place);
      }
  }
}
