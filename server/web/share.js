import { setText } from "./dom.js";

const shownMs = 2_500;

/** Hands a link to the device's own sharing, else to the clipboard, else to the eyes. @param {string} link */
export async function shareLink(link) {
  const isTouch = matchMedia("(pointer: coarse)").matches;
  // A dismissed sheet rejects as well; that is no failure.
  if (isTouch && navigator.share) return navigator.share({ url: link }).catch(() => {});
  // Without https the clipboard is out of reach; then the link is shown to be copied by hand.
  if (!navigator.clipboard) return void prompt("Copy this link", link);
  await navigator.clipboard.writeText(link).then(
    () => {
      setText("share-note", "Copied to the clipboard.");
      setTimeout(() => setText("share-note", ""), shownMs);
    },
    () => void prompt("Copy this link", link),
  );
}

/** @param {string} code @param {string} text */
export function downloadSheet(code, text) {
  // Without the mark spreadsheets take names of other scripts for something else.
  const address = URL.createObjectURL(
    new Blob(["\ufeff", text], { type: "text/csv;charset=utf-8" }),
  );
  const link = document.createElement("a");
  link.href = address;
  link.download = `emberline-${code}.csv`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), shownMs);
}
