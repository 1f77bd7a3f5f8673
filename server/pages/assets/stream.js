/** @typedef {import("./client.js").Message} Message */

const hubPath = "/v1/hub";
const firstPauseMs = 500;
const maxPauseMs = 15_000;

/**
 * An event stream that comes back. The browser itself reconnects after a lost connection; it gives
 * up after an answer other than 200, and then the cookie is fetched anew and the stream reopened
 * after the last event that was seen.
 *
 * @param {{ topic: string, prepare: () => Promise<unknown>, names: string[],
 *   onMessage: (message: Message) => void, onState: (isOpen: boolean) => void,
 *   onRefused: (error: unknown) => void, isFinal: (error: unknown) => boolean }} options
 * @returns {() => void} ends it
 */
export function openStream(options) {
  const { topic, prepare, names, onMessage, onState, onRefused, isFinal } = options;
  /** @type {EventSource | null} */
  let source = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  let lastId = "";
  let failures = 0;
  let isEnded = false;

  const retry = () => {
    source?.close();
    if (isEnded) return;
    onState(false);
    const pauseMs = Math.min(maxPauseMs, firstPauseMs * 2 ** failures++);
    clearTimeout(timer);
    timer = setTimeout(connect, pauseMs * (0.5 + Math.random() / 2));
  };

  async function connect() {
    try {
      await prepare();
    } catch (error) {
      return isFinal(error) && !isEnded ? onRefused(error) : retry();
    }
    if (isEnded) return;
    const resume = lastId === "" ? "" : `&lastEventID=${encodeURIComponent(lastId)}`;
    source = new EventSource(`${hubPath}?topic=${encodeURIComponent(topic)}${resume}`);
    source.onopen = () => {
      failures = 0;
      onState(true);
    };
    source.onerror = () => {
      if (source?.readyState === EventSource.CLOSED) retry();
      else onState(false);
    };
    for (const name of names) source.addEventListener(name, receive);
  }

  /** @param {MessageEvent} event */
  function receive(event) {
    lastId = event.lastEventId || lastId;
    onMessage(JSON.parse(event.data));
  }

  void connect();
  return () => {
    isEnded = true;
    clearTimeout(timer);
    source?.close();
  };
}
