/** Option keys and colours of avatars (AV-02). */
export const colors = {
  amber: "#fbbf24",
  blue: "#60a5fa",
  cyan: "#22d3ee",
  emerald: "#34d399",
  fuchsia: "#e879f9",
  green: "#4ade80",
  indigo: "#818cf8",
  lime: "#a3e635",
  orange: "#fb923c",
  pink: "#f472b6",
  purple: "#c084fc",
  red: "#f87171",
  rose: "#fb7185",
  sky: "#38bdf8",
  teal: "#2dd4bf",
  violet: "#a78bfa",
  white: "#f8fafc",
  yellow: "#facc15",
} as const;

export const bgs = {
  slate: "#334155",
  gray: "#374151",
  zinc: "#3f3f46",
  stone: "#44403c",
  neutral: "#404040",
  black: "#0a0a0a",
  navy: "#172554",
  forest: "#14532d",
  wine: "#4c0519",
  plum: "#3b0764",
  sand: "#e7d8b1",
  ice: "#dbeafe",
} as const;

export const borders = {
  gold: "#d4af37",
  silver: "#c0c7cf",
  bronze: "#b0753a",
  iron: "#5b6470",
  ember: "#f97316",
  ingot: "#e5b567",
} as const;

export type Color = keyof typeof colors;
export type Background = keyof typeof bgs;
export type Border = keyof typeof borders;

export const defaultColor: Color = "amber";
export const defaultBackground: Background = "slate";

/** The key itself when the palette has it, else null. */
export const colorOf = (key: string): Color | null =>
  Object.hasOwn(colors, key) ? (key as Color) : null;
export const backgroundOf = (key: string): Background | null =>
  Object.hasOwn(bgs, key) ? (key as Background) : null;
export const borderOf = (key: string): Border | null =>
  Object.hasOwn(borders, key) ? (key as Border) : null;

/** The keys alone, as clients choose from them. */
export const palettes = {
  colors: Object.keys(colors),
  bgs: Object.keys(bgs),
  borders: Object.keys(borders),
};
