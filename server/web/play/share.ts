import { el, setText } from "../dom.ts";

const shownMs = 2_500;

/** Hands a link to the device's own sharing, else to the clipboard, else to the eyes. */
export async function shareLink(link: string): Promise<void> {
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

export function downloadSheet(code: string, text: string): void {
  // Without the mark spreadsheets take names of other scripts for something else.
  const address = URL.createObjectURL(
    new Blob(["\ufeff", text], { type: "text/csv;charset=utf-8" }),
  );
  el("a", { href: address, download: `emberline-${code}.csv` }).click();
  setTimeout(() => URL.revokeObjectURL(address), shownMs);
}
