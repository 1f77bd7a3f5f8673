/** Following a lobby, from a seat or from outside, until it ends or the tab turns away. */

/** @typedef {import("./client/emberline.ts").Seat} Seat @typedef {import("./client/emberline.ts").Spectator} Spectator */
/** @typedef {import("./client/emberline.ts").LobbyEvent} LobbyEvent */

/**
 * @param {Seat | Spectator} view
 * @param {{ onEvent: (event: LobbyEvent) => void, onOpen: (isOpen: boolean) => void,
 *   onRefused: (error: unknown) => void }} handlers
 * @returns {() => void} ends it
 */
export function follow(view, { onEvent, onOpen, onRefused }) {
  const stop = new AbortController();
  const { signal } = stop;
  /** @param {string} state */
  const onState = (state) => {
    if (!signal.aborted && state !== "connecting") onOpen(state === "open");
  };
  const read = async () => {
    for await (const event of view.events({ signal, onState })) {
      if (signal.aborted) return;
      onEvent(event);
    }
  };
  read().catch((error) => {
    if (!signal.aborted) onRefused(error);
  });
  return () => stop.abort();
}
