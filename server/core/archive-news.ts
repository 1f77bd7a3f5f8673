/**
 * Redis channel on which an import says that it is committed; the message is the slug of the game. A message
 * that gets lost costs a reader two seconds, not the news.
 */
export const archiveNewsChannel = "codex:imported";
