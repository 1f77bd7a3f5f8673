import type {
  ItemDocument,
  LootDrop,
  LootDropGroup,
  LootDropRate,
  MonsterDocument,
  Quest,
} from "../generated/answers.ts";
import type { Resource } from "./data-resources.ts";

type Shared = Pick<ItemDocument, "primary_attributes" | "secondary_attributes"> &
  Pick<MonsterDocument, "attributes" | "damage_reductions" | "loot_drop_group_id"> & {
    rarity: string | null;
    description: string | null;
    flavor: string | null;
    subtitle: string | null;
    payload: Record<string, unknown>;
  };

/** A row of any list: the common fields, columns with their own rendering, and others by name. */
export type Row = Pick<ItemDocument, "id" | "archetype" | "name" | "icon" | "patch"> &
  Partial<Shared> &
  Readonly<Record<string, unknown>>;

export interface RowList<T = Row> {
  count: number;
  next: string | null;
  rows: T[];
}

/** Types whose documents have their own layout here. */
interface OwnForms {
  quest: Quest;
  loot_drop: LootDrop;
  loot_drop_group: LootDropGroup;
  loot_drop_rate: LootDropRate;
}

/** Whether a resource's rows have this type. */
export const isOf = <T extends keyof OwnForms>(
  type: T,
  resource: Resource,
  _row: Row,
): _row is Row & OwnForms[T] => resource.type === type;
