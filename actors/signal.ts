/**
 * Something that happens in one part, for the parts that are made after it. A part is made after those it calls, so
 * whoever reacts comes later and adds a handler. Handlers run in the order in which they were added.
 */
export class Signal<Args extends readonly unknown[] = []> {
  readonly #handlers: ((...args: Args) => unknown)[] = [];

  on(handler: (...args: Args) => unknown): void {
    this.#handlers.push(handler);
  }

  /** For handlers that neither fail nor wait. */
  emit(...args: Args): void {
    for (const handle of this.#handlers) handle(...args);
  }

  /** Resolves when every handler is done; rejects with the error of one that failed. */
  async settle(...args: Args): Promise<void> {
    await Promise.all(this.#handlers.map((handle) => handle(...args)));
  }
}
