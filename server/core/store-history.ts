/**
 * Redis has a name for the history of writes it continues (`master_replid`), and takes another one with every start
 * and when a replica becomes the master: there writes may have been lost. Under this key lie those histories of
 * which nothing was lost: first the one that continues them, then they, with blanks between. Whoever stops a Redis
 * in order sees to it.
 */
export const continuedKey = "lobbies:continued";
