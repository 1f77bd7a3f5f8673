import Format from "typebox/format";
import { foldName, isDisplayName } from "./account-names.ts";

/** Text of the rule in documentation and refusals. */
export const newNameForm = (min = 1, max = 64): string =>
  `${min} to ${max} visible characters of one script after trimming (Latin may be mixed with Chinese, Japanese and Korean)`;

/**
 * Invisible characters join and vary emoji; they are allowed only between emoji parts. Keycaps and flags of regions
 * have their own forms.
 */
const part = String.raw`\p{Extended_Pictographic}[\p{EMod}\ufe0e\ufe0f]?`;
// Built from a string: the compiler checks a literal against an older target than Node's.
const emoji = new RegExp(String.raw`\p{RGI_Emoji}|${part}(?:\u200d${part})*`, "gv");

/**
 * Characters after which (Indic), between which (Arabic) or before which (Bengali and Kannada, after r) a joiner
 * changes the spelling of a word.
 */
const virama =
  "\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca\u1039\u17d2\u1a60\u1b44\u1bab";
const joiners = [
  `(?<=[${virama}])[\\u200c\\u200d]`,
  String.raw`(?<=\p{scx=Arab})\u200c(?=\p{scx=Arab})`,
  String.raw`(?<=\u09b0)\u200d(?=\u09cd\u09af)|(?<=\u0cb0)\u200d(?=\u0ccd)`,
];
/** A variation selector of the character before it: in Japanese names and Mongolian letters. */
const selectors = [
  String.raw`(?<=\p{sc=Hani})[\ufe00-\ufe02\u{e0100}-\u{e01ef}]`,
  String.raw`(?<=[\u1820-\u18aa])(?:[\u180b-\u180d\u180f]|\u180e(?=[\u1820-\u18aa]))`,
];
/** Invisible characters that are part of the spelling of a name. */
const written = new RegExp([...joiners, ...selectors].join("|"), "gu");

/**
 * Invisible characters: controls, joiners, direction marks, fillers, private use, and spaces too thin to see. The
 * wide space is that of Japanese and Chinese.
 */
const invisible =
  /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\ufffc\u{1d159}\u{13441}\u{13442}\u{16fe4}]|[^\P{Zs} \u00a0\u3000]/u;

/** A mark needs a base character, with at most four marks on one (UTS 39, 5.4). */
const loneMark = /(?<![\p{L}\p{N}\p{M}])\p{M}|\p{Mn}{5}/u;

/** True when a newly chosen name may be displayed; existing names are not checked. */
export function isNewName(text: string): boolean {
  const name = text.trim();
  if (!isDisplayName(name)) return false;
  const plain = name.replace(emoji, "\u2b50").replace(written, "");
  if (invisible.test(plain) || loneMark.test(plain)) return false;
  return isOfOneScript(plain.normalize("NFKC")) && foldName(text) !== "";
}

/** Names of things may mix scripts, such as "emberline Россия". */
export function isNewLabel(text: string): boolean {
  const plain = text.replace(emoji, "\u2b50").replace(written, "");
  return /\S/.test(plain) && !invisible.test(plain) && !loneMark.test(plain);
}

/** Scripts that may be mixed; Latin goes with each (UTS 39, highly restrictive). */
const families = ["Latn Hani Hira Kana", "Latn Hani Bopo", "Latn Hani Hang"];
/** All other Unicode scripts, those in modern use first. */
const scripts =
  `Cyrl Grek Arab Hebr Deva Beng Thai Armn Geor Ethi Khmr Laoo Mymr Sinh Taml Telu Knda Mlym Gujr Guru Orya
   Tibt Mong Syrc Thaa Nkoo Cher Cans Yiii Olck Java Bali Sund Bugi Lana Talu Tale Cham Lepc Limb Mtei Saur
   Vaii Tfng Adlm Rohg Mand Samr Copt Goth Runr Ogam Glag Brah Osge Lisu Plrd Bamu Medf Mend Bass Hmng Hmnp
   Wara Wcho Nagm Tnsa Toto Vith Zanb Cakm Newa Tirh Kthi Mahj Takr Sidd Modi Ahom Batk Buhd Hano Tagb Tglg
   Phnx Armi Avst Prti Phli Phlp Chrs Sogd Sogo Elym Palm Nbat Hatr Mani Narb Sarb Ugar Xpeo Xsux Egyp Hluw
   Lina Linb Cprt Cpmn Cari Lyci Lydi Ital Merc Mero Kits Tang Nshu Orkh Ougr Hung Perm Elba Aghb Dogr Gong
   Gonm Maka Marc Bhks Soyo Phag Rjng Sora Sind Khoj Mult Nand Diak Kawi Shrd Sgnw Shaw Dsrt Osma Dupl Gara
   Gukh Krai Onao Sunu Todr Tutg Sidt Tayo Berf Tols Khar Kali Sylo Tavt Yezi Gran Pauc Mroo`.split(
    /\s+/,
  );

const ofScripts = (names: string) => {
  const set = ["Zyyy", "Zinh", ...names.split(" ")].map((name) => `\\p{scx=${name}}`).join("");
  return new RegExp(`^[${set}]*$`, "u");
};
let coverings: readonly RegExp[] | undefined;

function isOfOneScript(text: string): boolean {
  coverings ??= [...families, ...scripts].flatMap((names) => {
    try {
      return [ofScripts(names)];
    } catch {
      // A runtime with an older Unicode has neither the script nor its letters.
      return [];
    }
  });
  return coverings.some((covering) => covering.test(text));
}

// Schemas name these formats.
Format.Set("new-name", isNewName);
Format.Set("new-label", isNewLabel);
