/** Keys of advisory locks, each used once. Servers of several versions share a database, so a key never changes. */
export const advisoryLocks = {
  migrations: 7_346_201,
  /** With a second key: a hash of the game's slug. */
  gameImport: 7_346_202,
  /** With a second key, 0. Imports share it, and the clean-up of the archive holds it exclusively. */
  archive: 7_346_203,
  /** With a second key, 0. Shared by all that are about to commit a change of the archive (COD-22). */
  archivePublishing: 7_346_204,
  rankSnapshots: 7_346_312,
  challenges: 7_346_313,
} as const;
