import { createOrm } from "../../db/orm.ts";
import { openEnvelopeFile } from "../../importers/envelope/envelope-file.ts";
import { importEnvelope } from "../../importers/pipeline/import.ts";
import { entityCount, writePatches } from "../codex/game.ts";
import { median, medianWithInterval, type Table } from "../report.ts";
import type { Scenario } from "../scenario.ts";
import { withService } from "../service.ts";
import type { Choice } from "./choice.ts";
import { importChoices } from "./import-choices.ts";
import { fillQuestions, questionChoices, questionCount } from "./question-choices.ts";
import { readChoices } from "./read-choices.ts";

const rounds = 15;

export const choices: Scenario = {
  about: "statements optimized by hand, and their plain forms",
  run: () => withService(1, ({ databaseUrl }) => measure(databaseUrl)),
};

async function measure(databaseUrl: string): Promise<Table[]> {
  const files = await writePatches([1]);
  const orm = await createOrm({ DATABASE_URL: databaseUrl, DATABASE_POOL: 1 });
  try {
    const source = await openEnvelopeFile(files.file(1));
    await importEnvelope(orm.em.fork(), source, { now: Date.now() });
    await fillQuestions(orm.em.fork());
    const all = [
      ...(await readChoices(orm)),
      ...importChoices(orm, source),
      ...questionChoices(orm),
    ];
    const rows: string[][] = [];
    for (const choice of all) rows.push(await compare(choice));
    const title = `${entityCount} entities, ${questionCount} questions per kind, interleaved, medians`;
    return [{ title, head: ["what", "by hand, ms", "plain, ms", "plain to by hand"], rows }];
  } finally {
    await orm.close(true);
    files.remove();
  }
}

async function compare({ name, byHand, plain }: Choice): Promise<string[]> {
  const times = { byHand: [] as number[], plain: [] as number[] };
  for (let round = -1; round < rounds; round++) {
    const order = [["byHand", byHand] as const, ["plain", plain] as const];
    for (const [side, work] of round % 2 === 0 ? order : order.toReversed()) {
      const started = performance.now();
      await work();
      // The first round warms up.
      if (round >= 0) times[side].push(performance.now() - started);
    }
  }
  const ratios = times.plain.map((ms, round) => ms / (times.byHand[round] ?? ms));
  const cells = [times.byHand, times.plain].map((one) => median(one).toFixed(2));
  return [name, ...cells, medianWithInterval(ratios, "x")];
}
