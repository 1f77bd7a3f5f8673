import type { LobbyEvent, Seat, Spectator, StreamState } from "../client/emberline.ts";

interface Handlers {
  onEvent: (event: LobbyEvent) => void;
  onOpen: (isOpen: boolean) => void;
  onRefused: (error: unknown) => void;
}

/** Follows a lobby, as a seat or a spectator, until it ends; the returned function stops following. */
export function follow(
  view: Seat | Spectator,
  { onEvent, onOpen, onRefused }: Handlers,
): () => void {
  const stop = new AbortController();
  const { signal } = stop;
  const onState = (state: StreamState) => {
    if (!signal.aborted && state !== "connecting") onOpen(state === "open");
  };
  const read = async () => {
    for await (const event of view.events({ signal, onState, whileHidden: "release" })) {
      if (signal.aborted) return;
      onEvent(event);
    }
  };
  read().catch((error: unknown) => {
    if (!signal.aborted) onRefused(error);
  });
  return () => stop.abort();
}
