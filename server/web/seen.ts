/**
 * Runs streams only while the page is visible. A browser allows few connections to one service, and hidden
 * tabs would take them from the visible one. `begin` gets a signal that stops it; the returned function
 * stops it for good.
 */
export function whileSeen(begin: (signal: AbortSignal) => void): () => void {
  let stop = new AbortController();
  const look = () => {
    stop.abort();
    stop = new AbortController();
    if (!document.hidden) begin(stop.signal);
  };
  document.addEventListener("visibilitychange", look);
  look();
  return () => {
    document.removeEventListener("visibilitychange", look);
    stop.abort();
  };
}
