import { randomBytes } from "node:crypto";
import { lstatSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../../platform/config/config.ts";
import { ownUid } from "../stores/own-folder.ts";
import { StartError } from "./start-error.ts";

/**
 * The configured operator token; in development one generated once and stored in the data folder (BOOT-05).
 */
export function operatorToken(config: Config): string {
  const known = knownOperatorToken(config);
  if (known !== null) return known;
  const token = randomBytes(24).toString("base64url");
  writeFileSync(fileOf(config), `${token}\n`, { mode: 0o600, flag: "wx" });
  return token;
}

/** The same without generating one; null if there is none yet, empty in production without a setting. */
export function knownOperatorToken(config: Config): string | null {
  if (config.OPERATOR_BOOTSTRAP_TOKEN !== "" || config.APP_ENV === "production")
    return config.OPERATOR_BOOTSTRAP_TOKEN;
  return readOwn(fileOf(config));
}

const fileOf = ({ DATA_DIR }: Config) => join(DATA_DIR, "operator-token");

/** Null if there is none. Anyone able to place a file or a link there could choose the token. */
function readOwn(file: string): string | null {
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (found === undefined) return null;
  if (!found.isFile() || ![ownUid(), 0].includes(found.uid))
    throw new StartError(`${file} belongs to another user or is a link; remove it`);
  return readFileSync(file, "utf8").trim();
}
