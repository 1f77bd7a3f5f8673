import type { Config } from "../../platform/config/config.ts";
import { silentLogger, type Logger } from "../../platform/log/logger.ts";
import { StartError } from "./start-error.ts";

/** Seeded questions per category and difficulty: 800 in all. */
const questionsPerCell = 4;

/** Migrations, reference data, and outside production the sample data (CFG-03). */
export async function prepareDatabase(config: Config, log: Logger = silentLogger): Promise<void> {
  const { createOrm } = await import("../../../db/orm.ts");
  const { prepareSchema } = await import("../../../db/migrate.ts");
  const { seedReference } = await import("../../../db/seeds/reference.ts");
  const orm = await createOrm(config);
  try {
    await prepareSchema(orm, config, { log });
    await seedReference(orm.em.fork(), config);
    if (config.APP_ENV === "production") return;
    const { seedSample } = await import("../../../db/seeds/sample.ts");
    await seedSample(orm.em.fork(), config);
    const { seedQuestions } = await import("../../../db/seeds/questions.ts");
    const { starterQuestions } =
      await import("../../features/questions/providers/question-bank/index.ts");
    await seedQuestions(orm.em.fork(), () => starterQuestions(questionsPerCell));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StartError(`the database (DATABASE_URL) cannot be prepared: ${reason}`);
  } finally {
    await orm.close(true);
  }
}
