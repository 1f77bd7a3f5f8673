import { byId } from "../dom.ts";

/** Interruptions shorter than this are not shown. */
const lostMs = 600;

let timer = 0;

/** Shows a note while the view may be out of date. */
export function showConnection(isOpen: boolean): void {
  if (!isOpen) {
    timer ||= setTimeout(() => (byId("connection").hidden = false), lostMs);
    return;
  }
  clearTimeout(timer);
  timer = 0;
  byId("connection").hidden = true;
}
