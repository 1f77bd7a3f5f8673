import type { SeatKey } from "../client/emberline.ts";

export interface KeptSeat {
  name: string;
  key: SeatKey;
}

const storageName = "emberline.seats";
const most = 8;

/** Seats stored by this page, newest first. */
export function keptSeats(): KeptSeat[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(storageName) ?? "[]");
    return Array.isArray(kept) ? kept : [];
  } catch {
    return [];
  }
}

function save(kept: KeptSeat[]): void {
  try {
    localStorage.setItem(storageName, JSON.stringify(kept.slice(0, most)));
  } catch {}
}

const isSame = (one: SeatKey, other: SeatKey) =>
  one.code === other.code && one.playerId === other.playerId;

/** Session storage ends with the tab, so the browser also stores the seats of the last games. */
export function keepSeat(seat: KeptSeat): void {
  save([seat, ...keptSeats().filter(({ key }) => !isSame(key, seat.key))]);
}

export function forgetSeat(left: SeatKey): void {
  save(keptSeats().filter(({ key }) => !isSame(key, left)));
}

/** This browser's stored seat in a game, preferably with this name: two tabs are two players. */
export function keptSeat(code: string, name: string): SeatKey | null {
  const inGame = keptSeats().filter(({ key }) => key.code === code.toUpperCase());
  return (inGame.find((one) => one.name === name) ?? inGame[0])?.key ?? null;
}
