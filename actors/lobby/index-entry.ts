import type { IndexChange, IndexRules } from "../rules.ts";
import { listingOf, type WireContext } from "./snapshot.ts";
import type { Lobby, LobbyEvent } from "./types.ts";

/** Maximum number of public lobbies listed (LOB-04). */
const maxListed = 100;

/** Events that update the entry; those marked true are announced to subscribers (HUB-04). */
const indexedEvents: Partial<Record<LobbyEvent["type"], boolean>> = {
  created: true,
  joined: true,
  removed: true,
  started: true,
  finished: true,
  settings_changed: true,
  disconnected: false,
  question_opened: false,
  question_closed: false,
  spectators_counted: false,
};

/** The index of public unfinished lobbies. */
export const lobbyIndex = (context: WireContext): IndexRules<Lobby, LobbyEvent> => ({
  name: "lobbies",
  maxEntries: maxListed,
  entry: (lobby) => listingOf(lobby, context),
  createdAt: (lobby) => lobby.createdAt,
  change: indexChange,
});

function indexChange(lobby: Lobby, events: readonly LobbyEvent[]): IndexChange {
  let change: IndexChange = "none";
  let hasNewSettings = false;
  for (const { type } of events) {
    const isAnnounced = indexedEvents[type];
    if (isAnnounced === undefined) continue;
    hasNewSettings ||= type === "settings_changed";
    if (isAnnounced) change = "announced";
    else if (change === "none") change = "silent";
  }
  const wasNeverListed = lobby.settings.visibility === "private" && !hasNewSettings;
  return wasNeverListed ? "none" : change;
}
