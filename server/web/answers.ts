// Types of the OpenAPI document, by `npm run client:types`.

export interface Session {
  access_token: string;
  refresh_token: string;
  token_type: "Bearer";
  expires_in: number;
  player: Player;
  reclaim_token?: string;
}

export interface Player {
  id: number;
  name: string;
  is_guest: boolean;
  roles: ("ROLE_REGISTERED" | "ROLE_GUEST")[];
  avatar_url?: string;
  avatar?: {
    source: string | null;
    icon: string | null;
    color: string | null;
    bg: string | null;
  };
  email?: string | null;
  username?: string;
  display_name?: string;
  locale?: string;
  timezone?: string;
  last_login_at?: string | null;
  created_at?: string;
  email_verified_at?: string | null;
  channels?: string[];
}

export interface ConsentQuestion {
  client_name: string;
  realm: string;
  scopes: string[];
  /** true if the player must sign in again for this request */
  must_sign_in: boolean;
}

export interface ConsentResult {
  redirect: string;
}

export interface Inbox {
  messages: {
    id: number;
    kind: "mail" | "sms";
    template: string;
    to: string;
    status: string;
    attempts: number;
    last_error: string | null;
    subject: string | null;
    text: string | null;
    html: string | null;
    code: string | null;
    links: string[];
    created_at: string;
  }[];
}

export interface GameList {
  games: Game[];
}

export interface Game {
  slug: string;
  display_name: string;
  branches: string[];
  current_patch: Patch | null;
}

export interface Patch {
  id: number;
  version: string;
  version_raw: string;
  branch: string;
  released_at: string | null;
  imported_at: string;
  parent_id: number | null;
  num_added: number;
  num_changed: number;
  num_removed: number;
}

export interface Manifest {
  game: string;
  branch: string;
  patch: Patch | null;
  types: Record<string, number>;
  total: number;
  locales: string[];
}

export interface PatchList {
  patches: Patch[];
}

export interface Changelog {
  game: string;
  branch: string;
  from: PatchRef | null;
  to: PatchRef;
  types: Record<
    string,
    {
      added: {
        id: string;
        name: string;
        after: unknown;
      }[];
      removed: {
        id: string;
        name: string;
        before: unknown;
      }[];
      changed: {
        id: string;
        name: string;
        changes: FieldChange[];
      }[];
    }
  >;
  summary: DiffSummary;
  count: number;
  limit: number;
  cursor: number;
  next: number | null;
}

export interface PatchRef {
  id: number;
  version: string;
  version_raw: string;
}

export interface FieldChange {
  path: string;
  before: unknown;
  after: unknown;
}

export interface DiffSummary {
  added: number;
  removed: number;
  changed: number;
}

export interface EntityList {
  entities: Entity[];
  count: number;
  limit: number;
  next: number | null;
}

export interface Entity {
  id: string;
  type: string;
  game: string;
  branch: string;
  upstream_key: string | null;
  patch: PatchRef;
  name: string;
  tags: string[];
  icon: {
    hash: string;
    url: string;
  } | null;
  data: Record<string, unknown>;
  links: {
    rel: string;
    target: string;
  }[];
  assets: {
    role: "icon" | "portrait" | "audio" | "other";
    hash: string;
    media_type: string;
    bytes: number;
    url: string;
  }[];
}

export interface HydratedEntity {
  id: string;
  type: string;
  game: string;
  branch: string;
  upstream_key: string | null;
  patch: PatchRef;
  name: string;
  tags: string[];
  icon: {
    hash: string;
    url: string;
  } | null;
  data: Record<string, unknown>;
  links: {
    rel: string;
    target: string;
  }[];
  assets: {
    role: "icon" | "portrait" | "audio" | "other";
    hash: string;
    media_type: string;
    bytes: number;
    url: string;
  }[];
  hydrated?: Record<string, Entity | null | (Entity | null)[]>;
}

export interface EntityHistory {
  id: string;
  game: string;
  branch: string;
  history: {
    row_id: number;
    patch_id: number;
    patch_version: string;
    patch_version_raw: string;
    released_at: string | null;
    content_hash: string;
    is_tombstone: boolean;
  }[];
}

export interface EntityDiff {
  from: PatchRef;
  to: PatchRef;
  id: string;
  type: string;
  after?: unknown;
  before?: unknown;
  changes?: FieldChange[];
  op: "added" | "removed" | "changed" | "unchanged";
  entry: DiffEntry;
  summary: DiffSummary;
}

export interface DiffEntry {
  id: string;
  type: string;
  after?: unknown;
  before?: unknown;
  changes?: FieldChange[];
  op: "added" | "removed" | "changed" | "unchanged";
}

export type Facets = Record<string, Record<string, string>>;

export interface ItemDocument {
  id: string;
  archetype: string;
  slug: string;
  name: string | null;
  icon: {
    hash: string;
    url: string;
    media_type: string;
    bytes: number;
  } | null;
  upstream_key: string | null;
  patch: string;
  description: string | null;
  flavor: string | null;
  rarity: string | null;
  item_type: string | null;
  slot_type: string | null;
  armor_type: string | null;
  hand_type: string | null;
  weapon_type: string | null;
  utility_type: string | null;
  misc_type: string | null;
  gear_score: number | null;
  inventory_width: number | null;
  inventory_height: number | null;
  max_stack_size: number | null;
  wearing_delay_time: number | null;
  required_class: string[];
  vendor_price: number | null;
  experience: number | null;
  adventure_points: number | null;
  num_primary_attributes: number | null;
  num_secondary_attributes: number | null;
  is_droppable: boolean | null;
  is_tradable: boolean | null;
  primary_attributes: {
    attribute: string;
    min: number | null;
    max: number | null;
    enchanted_min: number | null;
    enchanted_max: number | null;
  }[];
  secondary_attributes: {
    attribute: string;
    min: number | null;
    max: number | null;
    enchanted_min: number | null;
    enchanted_max: number | null;
  }[];
}

export interface MonsterDocument {
  id: string;
  archetype: string;
  slug: string;
  name: string | null;
  icon: {
    hash: string;
    url: string;
    media_type: string;
    bytes: number;
  } | null;
  upstream_key: string | null;
  patch: string;
  description: string | null;
  flavor: string | null;
  class_type: string | null;
  grade_type: string | null;
  hp: number | null;
  experience: number | null;
  adventure_points: number | null;
  loot_drop_group_id: string | null;
  attributes: {
    str: number | null;
    dex: number | null;
    agi: number | null;
    will: number | null;
    knw: number | null;
    rsc: number | null;
    vig: number | null;
  };
  damage_reductions: Record<string, number>;
  abilities: string[];
}

export interface Quest {
  id: string;
  archetype: string;
  slug: string;
  name: string | null;
  icon: {
    hash: string;
    url: string;
    media_type: string;
    bytes: number;
  } | null;
  upstream_key: string | null;
  patch: string;
  title: string | null;
  description: string | null;
  completion_text: string | null;
  chapter_id: string | null;
  order: number | null;
  adventure_rank_min: number | null;
  merchant_id: string | null;
  objectives: {
    id: string;
    content_type: string | null;
    content_count: number | null;
    target_kind: string | null;
    target_archetype: string | null;
    target_archetypes?: string[];
    target_tag: string | null;
    dungeon_tags: string[];
    rarity: string | null;
    item_type: string | null;
  }[];
  rewards: {
    id: string;
    entries: {
      type: string | null;
      count: number | null;
      [name: string]: unknown;
    }[];
  }[];
  is_repeatable: boolean | null;
  is_daily: boolean | null;
}

export interface LootDropGroup {
  id: string;
  archetype: string;
  slug: string;
  name: string | null;
  icon: {
    hash: string;
    url: string;
    media_type: string;
    bytes: number;
  } | null;
  upstream_key: string | null;
  patch: string;
  entries: {
    loot_drop_id: string | null;
    loot_drop_rate_id: string | null;
    count: number | null;
    dungeon_grade: number | null;
  }[];
}

export interface LootDrop {
  id: string;
  archetype: string;
  slug: string;
  name: string | null;
  icon: {
    hash: string;
    url: string;
    media_type: string;
    bytes: number;
  } | null;
  upstream_key: string | null;
  patch: string;
  items: {
    item_id: string | null;
    count: number | null;
    luck_grade: number | null;
  }[];
}

export interface LootDropRate {
  id: string;
  archetype: string;
  slug: string;
  name: string | null;
  icon: {
    hash: string;
    url: string;
    media_type: string;
    bytes: number;
  } | null;
  upstream_key: string | null;
  patch: string;
  params: {
    drop_rate: number | null;
    luck_grade: number | null;
  }[];
}
