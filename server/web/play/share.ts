import { el, setText } from "../dom.ts";

const shownMs = 2_500;

/** Shares a link through the device's dialog, else the clipboard, else by showing it. */
export async function shareLink(link: string): Promise<void> {
  const isTouch = matchMedia("(pointer: coarse)").matches;
  // Dismissing the dialog also rejects, which is no failure.
  if (isTouch && navigator.share) return navigator.share({ url: link }).catch(() => {});
  // Without https there is no clipboard; the link is shown for manual copying.
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
  // Without a byte order mark spreadsheets misread names in other scripts.
  const address = URL.createObjectURL(
    new Blob(["\ufeff", text], { type: "text/csv;charset=utf-8" }),
  );
  el("a", { href: address, download: `emberline-${code}.csv` }).click();
  setTimeout(() => URL.revokeObjectURL(address), shownMs);
}
