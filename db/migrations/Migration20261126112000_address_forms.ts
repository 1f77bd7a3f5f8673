import { Migration } from "@mikro-orm/migrations";
import { normalizeEmail } from "../../server/platform/text/account-names.ts";

interface Holder {
  id: number;
  email: string | null;
  key: string;
  isVerified: boolean;
  isClosed: boolean;
  createdAt: number;
}

interface Subscription {
  id: number;
  key: string;
  isVerified: boolean;
  unsubscribedAt: string | null;
}

const batchSize = 1_000;
/** Addresses that are certainly in their normal form: nearly all. */
const plainForm = "^[a-z0-9._+-]+@[a-z0-9-]+([.][a-z0-9-]+)+$";

/** Normalizes every address. Among accounts with the same mailbox, the verified or older one keeps it. */
export class Migration20261126112000_address_forms extends Migration {
  override name = "Migration20261126112000_address_forms";

  override async up(): Promise<void> {
    await this.execute(`set local statement_timeout = 0;`);
    await this.execute(`create table "address_collisions" ("player_id" int not null,
      "kept_player_id" int not null, "address" varchar(254) not null, "former_key" varchar(254) not null,
      "verified_at" timestamptz null, "created_at" timestamptz not null, "notified_at" timestamptz null,
      primary key ("player_id"));`);
    await this.execute(
      `create index address_collisions_pending_index on address_collisions (player_id) where notified_at is null;`,
    );
    await this.#normalizeAccounts();
    await this.#normalizeSubscribers();
    await this.#normalizeSupport();
  }

  async #normalizeAccounts(): Promise<void> {
    for (let last = 0; ;) {
      const rows = await this.#readHolders(
        `email_key is not null and id > ? and not (email_key ~ ? and email is not distinct from email_key)`,
        [last, plainForm],
      );
      const end = rows.at(-1);
      if (end === undefined) return;
      last = end.id;
      await this.#settle(rows);
    }
  }

  async #readHolders(where: string, params: unknown[]): Promise<Holder[]> {
    const rows = await this.execute(
      `select id, email, email_key as key, email_verified_at is not null as "isVerified",
         deleted_at is not null as "isClosed", extract(epoch from created_at)::float8 as "createdAt"
       from players where ${where} order by id limit ${batchSize}`,
      params,
    );
    return rows as unknown as Holder[];
  }

  async #settle(rows: readonly Holder[]): Promise<void> {
    const keys = new Map(rows.map((row) => [row.id, keyOf(row)]));
    const known = new Map(rows.map((row) => [row.id, row]));
    const others = await this.#readHolders(
      `email_key in (select jsonb_array_elements_text(?::jsonb))`,
      [JSON.stringify([...new Set(keys.values())])],
    );
    for (const one of others) if (!known.has(one.id)) known.set(one.id, one);
    const groups = Map.groupBy(known.values(), ({ id, key }) => keys.get(id) ?? key);
    const kept: { id: number; key: string }[] = [];
    const lost: { id: number; kept: number; key: string; former: string }[] = [];
    for (const [key, group] of groups) {
      const [first, ...rest] = group.toSorted(byClaim);
      if (first === undefined) continue;
      kept.push({ id: first.id, key });
      for (const one of rest) lost.push({ id: one.id, kept: first.id, key, former: one.key });
    }
    await this.#writeLost(lost);
    await this.#writeKept(kept);
  }

  /** These accounts keep the address as typed, which no longer identifies an account. */
  async #writeLost(lost: readonly unknown[]): Promise<void> {
    if (lost.length === 0) return;
    const rows = `jsonb_to_recordset(?::jsonb) as one(id int, kept int, key text, former text)`;
    const json = [JSON.stringify(lost)];
    await this.execute(
      `insert into address_collisions (player_id, kept_player_id, address, former_key, verified_at, created_at)
       select p.id, one.kept, one.key, one.former, p.email_verified_at, now()
       from players p join ${rows} on p.id = one.id`,
      json,
    );
    // The holder from an earlier batch may lose the address in this one.
    await this.execute(
      `update address_collisions c set kept_player_id = one.kept from ${rows} where c.kept_player_id = one.id`,
      json,
    );
    await this.execute(
      `update players p set email_key = null, email_verified_at = null from ${rows} where p.id = one.id`,
      json,
    );
    for (const table of ["email_verifications", "password_resets", "sign_in_codes"])
      await this.execute(`delete from ${table} t using ${rows} where t.player_id = one.id`, json);
  }

  async #writeKept(kept: readonly unknown[]): Promise<void> {
    const rows = `jsonb_to_recordset(?::jsonb) as one(id int, key text)`;
    const json = [JSON.stringify(kept)];
    // Frees keys first, so that no two rows ever share one.
    await this.execute(
      `update players p set email_key = null from ${rows}
       where p.id = one.id and p.email_key is distinct from one.key`,
      json,
    );
    await this.execute(
      `update players p set email_key = one.key, email = one.key from ${rows}
       where p.id = one.id
         and (p.email_key is distinct from one.key or p.email is distinct from one.key)`,
      json,
    );
  }

  /** Merges the subscriptions of one mailbox; if any of them has ended, the merged one has ended too. */
  async #normalizeSubscribers(): Promise<void> {
    const rows = (await this.execute(
      `select id, email_key as key, verified_at is not null as "isVerified",
         unsubscribed_at::text as "unsubscribedAt" from subscribers
       where not (email_key ~ ? and email is not distinct from email_key) order by id`,
      [plainForm],
    )) as unknown as Subscription[];
    for (const row of rows) await this.#settleSubscription(row);
  }

  async #settleSubscription({ id, key }: Subscription): Promise<void> {
    const normal = normalizeEmail(key);
    if (normal === null) return;
    const group = (await this.execute(
      `select id, verified_at is not null as "isVerified", unsubscribed_at::text as "unsubscribedAt"
       from subscribers where id = ? or email_key = ? order by verified_at is null, id`,
      [id, normal],
    )) as unknown as Subscription[];
    const [first, ...rest] = group;
    if (first === undefined) return;
    for (const one of rest) await this.execute(`delete from subscribers where id = ?`, [one.id]);
    const left = group.find((one) => one.unsubscribedAt !== null)?.unsubscribedAt ?? null;
    await this.execute(
      `update subscribers set email = ?, email_key = ?, unsubscribed_at = ?::timestamptz where id = ?`,
      [normal, normal, left, first.id],
    );
  }

  async #normalizeSupport(): Promise<void> {
    const rows = (await this.execute(
      `select realm_id as id, support_email as key from realm_brandings where support_email is not null`,
    )) as unknown as { id: number; key: string }[];
    for (const { id, key } of rows)
      await this.execute(`update realm_brandings set support_email = ? where realm_id = ?`, [
        normalizeEmail(key) ?? key,
        id,
      ]);
  }

  /** Addresses stay normalized, which the previous version accepts. */
  override async down(): Promise<void> {
    await this.execute(
      `update players p set email_key = c.former_key, email_verified_at = c.verified_at
       from address_collisions c where p.id = c.player_id and p.email_key is null
         and p.purged_at is null
         and not exists (select 1 from players other where other.email_key = c.former_key)`,
    );
    await this.execute(`drop table "address_collisions";`);
  }
}

/** The address as typed is more precise than an earlier version's comparison key. */
const keyOf = ({ email, key }: Holder): string =>
  (email === null ? null : normalizeEmail(email)) ?? normalizeEmail(key) ?? key;

/** Verified before unverified, open before closed, older before younger. */
function byClaim(one: Holder, other: Holder): number {
  return (
    Number(other.isVerified) - Number(one.isVerified) ||
    Number(one.isClosed) - Number(other.isClosed) ||
    one.createdAt - other.createdAt ||
    one.id - other.id
  );
}
