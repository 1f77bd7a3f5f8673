/** Every refusal of a backup, a check or a restore: code -> what to do. */
const refusals = {
  "backup:folder_not_empty": "give a folder that does not exist or is empty",
  "backup:folder_unusable": "the folder cannot be written or read",
  "backup:other_release": "take a backup with the release that migrated the database last",
  "backup:other_schema": "the tables are not those that its migrations make",
  "backup:schema_changed": "a migration ran meanwhile; repeat the backup",
  "backup:blocked": "another session holds a table; repeat the backup",
  "backup:not_found": "the folder has no finished backup",
  "backup:damaged": "the backup is not as it was written",
  "backup:newer_release": "restore it with that release or a later one",
  "backup:database_not_empty": "restore into an empty database",
  "backup:redis_not_empty": "restore beside an empty Redis; FLUSHALL empties it",
  "backup:other_restore":
    "the restore of another backup was interrupted here; give an empty database",
  "backup:busy": "another restore, or a migration, runs on this database",
  "backup:invalid_ids": "--skip-ids is a whole number from 1 to 1000000000",
  "backup:ids_exhausted": "a sequence has not as many ids left; give a smaller --skip-ids",
} as const;

export type BackupRefusalCode = keyof typeof refusals;

/** A refused command, as one line that begins with its code; a failed step of the machine has a `cause`. */
export class BackupRefused extends Error {
  readonly code: BackupRefusalCode;

  constructor(code: BackupRefusalCode, detail = "", options?: ErrorOptions) {
    super(`${code} ${detail === "" ? "" : `${detail}: `}${refusals[code]}`, options);
    this.code = code;
  }
}
