import type { EntityManager } from "@mikro-orm/postgresql";
import { RebuildRefused, showChanges } from "../../db/projections/rebuild.ts";
import { buildOf, type Build } from "../features/gamedata/domain/builds.ts";
import { rebuild, type RebuildRequest } from "../features/gamedata/domain/rebuild.ts";
import type { Config } from "../platform/config/config.ts";
import { Refusal, textOf, type ConsoleCommand, type Options } from "./command.ts";
import { audit, inDatabase } from "./in-database.ts";

/** Maximum rows printed with their differences. */
const shownRows = 100;

export const projectionCommands: readonly ConsoleCommand[] = [
  {
    name: "projection:rebuild",
    summary: "Rebuild the rows of the game-data realm from the archive",
    optional: [
      [
        "--preview",
        "report and store the rows and fields that would differ, without changing them",
      ],
      ["--show <build>", "the differences of a build, 100 rows at a time"],
      ["--after <id>", "with --show: start after this row"],
      ["--apply <build>", "apply a preview"],
      ["--back", "restore the rows from before the newest rebuild"],
    ],
    run,
  },
];

async function run(config: Config, options: Options): Promise<Record<string, unknown>> {
  const actions = ["preview", "show", "apply", "back"].filter(
    (name) => options[name] !== undefined,
  );
  if (actions.length > 1)
    throw new Refusal(`projection:one_at_a_time not ${actions.join(" and ")} at once`);
  const shown = textOf(options, "show");
  if (shown !== undefined) return show(config, numberOf(shown), textOf(options, "after") ?? "");
  const applied = textOf(options, "apply");
  const build = applied === undefined ? null : numberOf(applied);
  return present(await change(config, { action: actionOf(options), build }));
}

function actionOf(options: Options): RebuildRequest["action"] {
  if (options["back"] === true) return "back";
  return options["preview"] === true ? "preview" : "apply";
}

function numberOf(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new Refusal("projection:no_build name the number of a build");
  return Number(text);
}

const present = (build: Build) => ({
  build: build.id,
  status: build.status,
  num_added: build.numAdded,
  num_changed: build.numChanged,
  num_removed: build.numRemoved,
});

async function change(config: Config, request: Omit<RebuildRequest, "game">): Promise<Build> {
  const { action } = request;
  const game = config.GAME_DATA_GAME;
  const make = async (em: EntityManager) => {
    const build = await rebuild(em, { ...request, game }).catch((error: unknown) => {
      if (error instanceof RebuildRefused) throw new Refusal(error.code);
      throw error;
    });
    if (action === "preview") return build;
    await audit(em, `projection:${action}`, game, { detail: present(build) });
    return build;
  };
  const entry = { action: `projection:${action}`, target: game };
  return inDatabase(config, make, action === "preview" ? undefined : entry);
}

async function show(config: Config, id: number, after: string): Promise<Record<string, unknown>> {
  return inDatabase(config, async (em) => {
    const found = await buildOf(em, id);
    if (found.build === null)
      throw new Refusal(`projection:no_build kept are ${found.kept.join(", ") || "none"}`);
    const rows = await showChanges(em, id, { after, limit: shownRows });
    return { ...present(found.build), rows };
  });
}
