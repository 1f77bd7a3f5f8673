import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { rowsOf } from "./rows.ts";

export interface AssetFacts {
  mediaType: string;
  bytes: number;
}

/** Hash -> what is registered of it; hashes that are not registered are absent. */
export async function findAssets(
  em: EntityManager,
  hashes: readonly string[],
): Promise<Map<string, AssetFacts>> {
  if (hashes.length === 0) return new Map();
  const rows = await rowsOf(
    em,
    sql<AssetFacts & { hash: string }>`
      select hash, media_type as "mediaType", bytes from codex_assets
      where hash = any(${hashes}::char(64)[])`,
  );
  return new Map(rows.map(({ hash, ...facts }) => [hash, facts]));
}

/** Stores new assets; one that another import brought meanwhile stays as it is. */
export async function insertAssets(
  em: EntityManager,
  assets: readonly { hash: string; mediaType: string; content: Uint8Array }[],
): Promise<void> {
  for (const { hash, mediaType, content } of assets)
    await rowsOf(
      em,
      sql`insert into codex_assets (hash, media_type, bytes, content)
        values (${hash}, ${mediaType}, ${content.byteLength}, ${Buffer.from(content)})
        on conflict do nothing`,
    );
}

/** The bytes of an asset, or null. */
export async function readAsset(
  em: EntityManager,
  hash: string,
): Promise<{ mediaType: string; content: Buffer } | null> {
  const [row] = await rowsOf(
    em,
    sql<{ mediaType: string; content: Buffer }>`
      select media_type as "mediaType", content from codex_assets where hash = ${hash}`,
  );
  return row ?? null;
}
