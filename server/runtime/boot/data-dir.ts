import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defaultDataDir, type Config } from "../../platform/config/settings.ts";
import { lockDataDir, UnwritableDataDir } from "./lock.ts";

/** The folder of one start; `warning` is null where it is DATA_DIR. */
export interface DataDir {
  path: string;
  warning: string | null;
  release(): void;
}

/**
 * Locks DATA_DIR. A start that keeps no data there needs no setting either: where the default folder cannot be written,
 * a temporary one takes the lock, and in development the operator token, and is removed by `release`.
 */
export function takeDataDir(config: Config): DataDir {
  const path = config.DATA_DIR;
  try {
    return { path, warning: null, release: lockDataDir(path).release };
  } catch (error) {
    if (!(error instanceof UnwritableDataDir) || path !== defaultDataDir || keepsData(config))
      throw error;
    return takeTemporary(error);
  }
}

const keepsData = (config: Config): boolean =>
  [config.DATABASE_URL, config.REDIS_URL, config.AVATAR_STORE].includes("");

function takeTemporary(unwritable: UnwritableDataDir): DataDir {
  let path: string;
  try {
    path = mkdtempSync(join(tmpdir(), "emberline-data-"));
  } catch {
    throw unwritable;
  }
  const lock = lockDataDir(path);
  return {
    path,
    warning: `DATA_DIR is not set and ${defaultDataDir} is not writable; Postgres, Redis and pictures are elsewhere, so ${path} serves until the stop`,
    release: () => {
      lock.release();
      rmSync(path, { recursive: true, force: true });
    },
  };
}
