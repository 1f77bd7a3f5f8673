import { Migration } from "@mikro-orm/migrations";
import { skeletonOf } from "../../server/platform/text/skeletons.ts";

interface TeamName {
  id: number;
  name: string;
}

/** Among existing lookalike names, the oldest gets the skeleton; the others stay without one. */
export class Migration20261126110000_name_skeletons extends Migration {
  override name = "Migration20261126110000_name_skeletons";

  override async up(): Promise<void> {
    // Updates every player, which takes longer than the usual statement timeout.
    await this.execute(`set local statement_timeout = 0;`);
    await this.execute(`alter table "players" add "name_skeleton" varchar(64) null;`);
    // Player names are ASCII, in which four characters are confusable.
    await this.execute(`
      update players p set name_skeleton = oldest.skeleton from (
        select distinct on (skeleton) id, skeleton from (
          select id, lower(replace(translate(name, '01I', 'Oll'), 'm', 'rn')) as skeleton
          from players where purged_at is null
        ) named order by skeleton, id
      ) oldest where p.id = oldest.id;`);
    await this.execute(
      `alter table "players" add constraint "players_name_skeleton_unique" unique ("name_skeleton");`,
    );

    await this.execute(`alter table "teams" add "name_skeleton" text null;`);
    await this.#fillTeams();
    await this.execute(
      `alter table "teams" add constraint "teams_name_skeleton_unique" unique ("name_skeleton");`,
    );
  }

  async #fillTeams(): Promise<void> {
    const seen = new Set<string>();
    for (let last = 0; ;) {
      const rows = (await this.execute(
        `select id, name from teams where id > ? order by id limit 1000`,
        [last],
      )) as TeamName[];
      const first = rows
        .map(({ id, name }) => ({ id, skeleton: skeletonOf(name) }))
        .filter(({ skeleton }) => !seen.has(skeleton) && seen.add(skeleton));
      if (first.length > 0)
        await this.execute(
          `update teams t set name_skeleton = one.skeleton
             from jsonb_to_recordset(?::jsonb) as one(id int, skeleton text) where t.id = one.id`,
          [JSON.stringify(first)],
        );
      const end = rows.at(-1);
      if (end === undefined) return;
      last = end.id;
    }
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "teams" drop column "name_skeleton";`);
    this.addSql(`alter table "players" drop column "name_skeleton";`);
  }
}
