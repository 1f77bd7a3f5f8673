import { sql } from "kysely";
import type { EntityManager } from "@mikro-orm/postgresql";
import { preparedRowsOf } from "../prepared.ts";
import type { Change } from "./board-changes.ts";
import { totalsColumns, type TotalsRow } from "./board-entries.ts";

/** What the boards have to know of one moment. */
export interface Look {
  /** The highest batch that is noted as carried over; 0 = none. */
  batch: number;
  /** No batch has a higher number. */
  highest: number;
  /** A number for a new batch, higher than all before; null when nothing waits. */
  next: number | null;
  /** Changes that wait, oldest first. */
  waiting: (Change & { id: number })[];
  /** Of the players among them, as far as they are on the board. */
  totals: TotalsRow[];
  /** Teams of those players. */
  teams: number[];
}

/** All in one statement, so of one moment: this is what each reader of a board waits for. */
export async function lookAtChanges(em: EntityManager, limit: number): Promise<Look> {
  const [row] = await preparedRowsOf<Look>(
    em,
    // The players are looked up one by one: nothing may make a scan of the whole table of it. A number
    // lost in a crash is no loss; nobody waits for the disk to have it.
    sql`with settings as (
        select set_config('synchronous_commit', 'off', true)
      ), waiting as materialized (
        select id, kind, subject_id from board_changes where batch is null order by id limit ${limit}
      ), moved as materialized (
        select distinct subject_id as id from waiting where kind = 'player'
      )
      select coalesce(b.batch, 0)::float8 as batch,
        (select last_value from board_changes_id_seq)::float8 as highest,
        case when exists (select from waiting)
          then nextval('board_changes_id_seq')::float8 end as next,
        (select coalesce(json_agg(json_build_object(
            'id', w.id, 'kind', w.kind, 'subjectId', w.subject_id) order by w.id), '[]')
          from waiting w) as waiting,
        (select coalesce(json_agg(t), '[]') from moved cross join lateral (
            select ${totalsColumns} from player_stats s
            where s.player_id = moved.id and s.total_answers > 0 limit 1
          ) t) as totals,
        (select coalesce(json_agg(distinct t.team_id), '[]') from moved cross join lateral (
            select m.team_id from team_members m where m.player_id = moved.id limit 1
          ) t) as teams
      from settings left join board_state b on b.id = 1`,
  );
  if (row === undefined) throw new Error("Postgres said nothing about the boards");
  return row;
}
