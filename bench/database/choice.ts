/** Code written by hand for speed, and its plain form for comparison. */
export interface Choice {
  name: string;
  byHand: () => Promise<unknown>;
  plain: () => Promise<unknown>;
}
