/**
 * Start of the mark that the benchmark writes into every event: its number in the topic and its send time.
 */
const opening = '"mark":"';

/** A clock in microseconds shared by all processes of this machine. */
export const nowMicros = (): number => Number(process.hrtime.bigint() / 1000n);

/** A message of `bytes` bytes in the format of a lobby's. */
export function markedMessage(topic: string, seq: number, bytes: number): string {
  const head = `{"type":"lobby.answer","topic":"/games/trivia/lobby/${topic}","seq":${seq},"at_ms":${Date.now()}`;
  const text = `${head},"data":{${opening}${seq} ${nowMicros()}","pad":"`;
  return `${text}${"x".repeat(Math.max(0, bytes - text.length - 3))}"}}`;
}

/** Calls `onMark` for every mark in `text` and returns the incomplete rest. */
export function readMarks(text: string, onMark: (seq: number, sentMicros: number) => void): string {
  let from = 0;
  for (;;) {
    const at = text.indexOf(opening, from);
    if (at < 0) return text.slice(Math.max(from, text.length - opening.length + 1));
    const end = text.indexOf('"', at + opening.length);
    if (end < 0) return text.slice(at);
    const gap = text.indexOf(" ", at);
    onMark(Number(text.slice(at + opening.length, gap)), Number(text.slice(gap + 1, end)));
    from = end;
  }
}

const idLine = "\nid: ";

/** Like `readMarks`, for the ids of events. */
export function readIds(text: string, onId: (id: number) => void): string {
  let from = 0;
  for (;;) {
    const at = text.indexOf(idLine, from);
    if (at < 0) return text.slice(Math.max(from, text.length - idLine.length + 1));
    const end = text.indexOf("\n", at + idLine.length);
    if (end < 0) return text.slice(at);
    onId(Number(text.slice(at + idLine.length, end)));
    from = end;
  }
}
