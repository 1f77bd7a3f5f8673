import { el } from "./dom.js";

/** A connection that comes back within this time was not worth a word. */
const lostMs = 600;

let timer = 0;

/** Says so while what is shown may be out of date. @param {boolean} isOpen */
export function showConnection(isOpen) {
  if (!isOpen) {
    timer ||= setTimeout(() => (el("connection").hidden = false), lostMs);
    return;
  }
  clearTimeout(timer);
  timer = 0;
  el("connection").hidden = true;
}
