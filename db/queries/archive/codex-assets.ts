import { sql } from "kysely";
import type { EntityManager } from "@mikro-orm/postgresql";
import { anyOf } from "../expressions.ts";
import { changeRows, findRow, findRows } from "../rows.ts";

export interface AssetFacts {
  mediaType: string;
  bytes: number;
}

/** Registered assets by hash; unregistered hashes are absent. */
export async function findAssets(
  em: EntityManager,
  hashes: readonly string[],
): Promise<Map<string, AssetFacts>> {
  if (hashes.length === 0) return new Map();
  const rows = await findRows(em, (db) =>
    db
      .selectFrom("codex_assets")
      .select(["hash", "media_type as mediaType", "bytes"])
      .where("hash", "=", anyOf(hashes, "char(64)")),
  );
  return new Map(rows.map(({ hash, ...facts }) => [hash, facts]));
}

export interface NewAsset {
  hash: string;
  mediaType: string;
  content: Uint8Array;
}

/** Stores new assets in one statement; an asset that a concurrent import has stored stays unchanged. */
export async function insertAssets(em: EntityManager, assets: readonly NewAsset[]): Promise<void> {
  if (assets.length === 0) return;
  const rows = assets.map(({ hash, mediaType, content }) => ({
    hash,
    media_type: mediaType,
    bytes: content.byteLength,
    content: Buffer.from(content.buffer, content.byteOffset, content.byteLength),
  }));
  await changeRows(em, (db) =>
    db
      .insertInto("codex_assets")
      .values(rows)
      .onConflict((conflict) => conflict.doNothing()),
  );
}

/** The bytes of an asset, or null. */
export function readAsset(
  em: EntityManager,
  hash: string,
): Promise<{ mediaType: string; content: Buffer } | null> {
  return findRow(em, (db) =>
    db
      .selectFrom("codex_assets")
      .select(["media_type as mediaType", sql<Buffer>`content`.as("content")])
      .where("hash", "=", hash),
  );
}
