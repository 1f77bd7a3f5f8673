/** Classes in the order of the model's output. */
export const classes = ["drawing", "hentai", "neutral", "porn", "sexy"] as const;

/** Class -> probability; the sum is 1. */
export type Scores = Record<string, number>;

/** Side of the model's input, in pixels. */
export const inputSide = 224;

export interface Question {
  id: number;
  /** Red, green, blue of each pixel. */
  pixels: Uint8Array;
}

/** Id 0: the model is loaded. */
export interface Answer {
  id: number;
  scores: Scores;
}
