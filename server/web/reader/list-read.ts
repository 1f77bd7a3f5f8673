import { EmberlineError } from "../client/emberline.ts";

/** Reads a list again and shows the outcome of the latest read; a newer read aborts the one before. */
export function latestRead<Page>(
  results: HTMLElement,
  read: (signal: AbortSignal) => Promise<Page>,
  show: (page: Page | Error) => void,
): () => Promise<void> {
  let running = new AbortController();
  return async () => {
    running.abort();
    running = new AbortController();
    const { signal } = running;
    results.setAttribute("aria-busy", "true");
    const page = await read(signal).catch(asError);
    if (signal.aborted) return;
    results.removeAttribute("aria-busy");
    show(page);
  };
}

const asError = (error: unknown) => (error instanceof Error ? error : new Error(String(error)));

export const isWrongFilter = (error: unknown): error is EmberlineError =>
  error instanceof EmberlineError && error.status === 400;

/** Returns the error of a wrong filter, which the list shows; throws any other. */
export function orWrongFilter(error: unknown): EmberlineError {
  if (isWrongFilter(error)) return error;
  throw error;
}
