import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";

/** One row per player, guest or registered; an upgraded guest keeps the row (USR-01). */
export const PlayerSchema = defineEntity({
  name: "Player",
  tableName: "players",
  indexes: [
    {
      // The clean-up reads closed accounts, which are few.
      name: "players_closed_index",
      expression:
        "create index players_closed_index on players (deleted_at) where deleted_at is not null and purged_at is null",
    },
    {
      // Processes read recently upgraded guests (TOK-11).
      name: "players_upgraded_index",
      expression:
        "create index players_upgraded_index on players (upgraded_at) where upgraded_at is not null",
    },
    {
      // A number can be verified by one account only (USR-08).
      name: "players_verified_phone_unique",
      expression:
        "create unique index players_verified_phone_unique on players (phone) where phone_verified_at is not null",
    },
    {
      // Leaderboards search for a part of a name (LB-04).
      name: "players_name_key_trgm_index",
      expression:
        "create index players_name_key_trgm_index on players using gin (name_key gin_trgm_ops)",
    },
    {
      // One holder per combination (AV-01); also read icon by icon to list free ones.
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
    /**
     * Confusable skeleton of the name (UTS 39); null if the name had a lookalike before these were refused.
     */
    nameSkeleton: p.string().length(64).nullable().unique("players_name_skeleton_unique"),
    isGuest: p.boolean(),
    /** The address as in `emailKey`; for an account that lost its address to another, as it was entered. */
    email: p.string().length(320).nullable(),
    /** Normal form of the address, to which mail is sent (GW-03). */
    emailKey: p.string().length(254).nullable().unique("players_email_key_unique"),
    username: p.string().length(64).nullable(),
    displayName: p.string().length(64).nullable(),
    passwordHash: p.string().length(255).nullable().hidden(),
    /**
     * The session in which the password was set; null = through a mailed link, or before this was recorded.
     */
    passwordBy: p.string().length(22).nullable(),
    locale: p.string().length(35).default("en"),
    timezone: p.string().length(64).default("UTC"),
    /** Opt-ins of the form `medium:topic` (USR-07). */
    channels: p.array().columnType("text[]").defaultRaw("'{}'"),
    lastLoginAt: p.datetime().nullable(),
    emailVerifiedAt: p.datetime().nullable(),
    /** Who entered the unverified address: when, from which IP address, in which browser (S44). */
    addressSetAt: p.datetime().nullable(),
    addressIp: p.string().length(45).nullable(),
    addressAgent: p.string().length(255).nullable(),
    /** SHA-256 of that browser's cookie. */
    addressDevice: p.string().length(64).nullable().hidden(),
    /** E.164. */
    phone: p.string().length(16).nullable(),
    phoneVerifiedAt: p.datetime().nullable(),
    /** The session in which the number was verified. */
    phoneBy: p.string().length(22).nullable(),
    /** Increases with every change of the avatar selection (AV-09). */
    avatarV: p.integer().default(0),
    /** `custom`, `upload`, a social login, or null for the generated picture. */
    avatarSource: p.string().length(32).nullable(),
    /** `author/slug` of the claimed icon; the claim persists while another source is shown (AV-02). */
    avatarIcon: p.string().length(64).nullable(),
    avatarColor: p.string().length(16).nullable(),
    avatarBg: p.string().length(16).nullable(),
    avatarBorder: p.string().length(16).nullable(),
    /** Id of the shown upload, if the source is `upload`. */
    avatarUploadId: p.integer().nullable(),
    avatarUpdatedAt: p.datetime().nullable(),
    /** Generation of the newest reclaim token (TOK-12). */
    reclaimGeneration: p.integer().default(0),
    /** Reclaim tokens of a lower generation are void. */
    reclaimVoidBelow: p.integer().default(0),
    /** Slug of the realm through which the player was created (TOK-14). */
    realm: p.string().length(63),
    createdAt: p.datetime().defaultRaw("now()"),
    /** When a guest became this account; this voids the guest's access tokens (S8). */
    upgradedAt: p.datetime().nullable(),
    /** When the account was closed (USR-09). */
    deletedAt: p.datetime().nullable(),
    /** When the personal data of the closed account was deleted; it cannot be restored after that. */
    purgedAt: p.datetime().nullable(),
  },
});

export type Player = InferEntity<typeof PlayerSchema>;
