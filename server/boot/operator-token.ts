import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../core/config.ts";

/** The given operator token; in development one made once and kept in the data folder (BOOT-05). */
export function operatorToken(config: Config): string {
  if (config.OPERATOR_BOOTSTRAP_TOKEN !== "" || config.APP_ENV === "production")
    return config.OPERATOR_BOOTSTRAP_TOKEN;
  const file = join(config.DATA_DIR, "operator-token");
  if (existsSync(file)) return readFileSync(file, "utf8").trim();
  const token = randomBytes(24).toString("base64url");
  writeFileSync(file, `${token}\n`, { mode: 0o600 });
  return token;
}
