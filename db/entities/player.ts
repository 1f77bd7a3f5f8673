import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";

/** One row per player, guest or registered; an upgraded guest keeps the row (USR-01). */
export const PlayerSchema = defineEntity({
  name: "Player",
  tableName: "players",
  indexes: [
    {
      // The clean-up looks for closed accounts, which are few.
      name: "players_closed_index",
      expression:
        "create index players_closed_index on players (deleted_at) where deleted_at is not null and purged_at is null",
    },
    {
      // Processes read who was upgraded lately (TOK-11).
      name: "players_upgraded_index",
      expression:
        "create index players_upgraded_index on players (upgraded_at) where upgraded_at is not null",
    },
    {
      // A number is verified on one account only (USR-08).
      name: "players_verified_phone_unique",
      expression:
        "create unique index players_verified_phone_unique on players (phone) where phone_verified_at is not null",
    },
    {
      // Boards search for a part of a name (LB-04).
      name: "players_name_key_trgm_index",
      expression:
        "create index players_name_key_trgm_index on players using gin (name_key gin_trgm_ops)",
    },
    {
      // One holder for each combination (AV-01); also read icon by icon for what is still free.
      name: "players_avatar_claim_unique",
      expression:
        "create unique index players_avatar_claim_unique on players (avatar_icon, avatar_color, avatar_bg) where avatar_icon is not null",
    },
  ],
  properties: {
    id: p.integer().primary(),
    /** Guest name or username, as entered. */
    name: p.string().length(64),
    /** Normal form of the name; guests and accounts share one namespace (GW-03). */
    nameKey: p.string().length(64).unique("players_name_key_unique"),
    /** What the name looks like (UTS 39); null for one that had a twin before twins were refused. */
    nameSkeleton: p.string().length(64).nullable().unique("players_name_skeleton_unique"),
    isGuest: p.boolean(),
    /** As `emailKey`; of an account that lost its address to another, as it was entered. */
    email: p.string().length(320).nullable(),
    /** Normal form of the address, which mail goes to (GW-03). */
    emailKey: p.string().length(254).nullable().unique("players_email_key_unique"),
    username: p.string().length(64).nullable(),
    displayName: p.string().length(64).nullable(),
    passwordHash: p.string().length(255).nullable().hidden(),
    /** Session the password was chosen in; null = by a mailed link, or before this was recorded. */
    passwordBy: p.string().length(22).nullable(),
    locale: p.string().length(35).default("en"),
    timezone: p.string().length(64).default("UTC"),
    /** Opt-ins of the form `medium:topic` (USR-07). */
    channels: p.array().columnType("text[]").defaultRaw("'{}'"),
    lastLoginAt: p.datetime().nullable(),
    emailVerifiedAt: p.datetime().nullable(),
    /** Who entered the address that is not verified yet: when, from where, in which browser (S44). */
    addressSetAt: p.datetime().nullable(),
    addressIp: p.string().length(45).nullable(),
    addressAgent: p.string().length(255).nullable(),
    /** SHA-256 of the cookie of that browser. */
    addressDevice: p.string().length(64).nullable().hidden(),
    /** E.164. */
    phone: p.string().length(16).nullable(),
    phoneVerifiedAt: p.datetime().nullable(),
    /** Session the number was verified in. */
    phoneBy: p.string().length(22).nullable(),
    /** Grows with every change of the avatar selection (AV-09). */
    avatarV: p.integer().default(0),
    /** `custom`, `upload`, a social login, or null for the generated picture. */
    avatarSource: p.string().length(32).nullable(),
    /** `author/slug` of the claimed icon; the claim stays while another source is shown (AV-02). */
    avatarIcon: p.string().length(64).nullable(),
    avatarColor: p.string().length(16).nullable(),
    avatarBg: p.string().length(16).nullable(),
    avatarBorder: p.string().length(16).nullable(),
    /** Id of the upload that is shown, when the source is `upload`. */
    avatarUploadId: p.integer().nullable(),
    avatarUpdatedAt: p.datetime().nullable(),
    /** Generation of the newest reclaim token (TOK-12). */
    reclaimGeneration: p.integer().default(0),
    /** Reclaim tokens of a lower generation are void. */
    reclaimVoidBelow: p.integer().default(0),
    /** Slug of the realm the player came through (TOK-14). */
    realm: p.string().length(63),
    createdAt: p.datetime().defaultRaw("now()"),
    /** When a guest became this account; access tokens of the guest are void since (S8). */
    upgradedAt: p.datetime().nullable(),
    /** A closed account (USR-09). */
    deletedAt: p.datetime().nullable(),
    /** A closed account whose personal data is gone; it cannot be restored. */
    purgedAt: p.datetime().nullable(),
  },
});

export type Player = InferEntity<typeof PlayerSchema>;
