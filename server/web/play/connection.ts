import { byId } from "../dom.ts";

/** A connection that comes back within this time was not worth a word. */
const lostMs = 600;

let timer = 0;

/** Says so while what is shown may be out of date. */
export function showConnection(isOpen: boolean): void {
  if (!isOpen) {
    timer ||= setTimeout(() => (byId("connection").hidden = false), lostMs);
    return;
  }
  clearTimeout(timer);
  timer = 0;
  byId("connection").hidden = true;
}
