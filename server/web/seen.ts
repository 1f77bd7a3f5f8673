/**
 * Runs what needs a stream only while the page is seen. A browser has few connections to one service, and hidden
 * tabs would keep them from the one in front. `begin` gets a signal that ends it; what is returned ends it for good.
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
