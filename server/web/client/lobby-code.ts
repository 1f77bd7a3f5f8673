const codePattern = /^[A-HJ-NP-Za-hj-np-z2-9]{6}$/;
const decoration =
  /[\s._\u00b7\u2022\u30fb\p{Pd}\p{Default_Ignorable_Code_Point}\u2212\u30fc\uff70]/gu;
const surroundings = /^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu;

/**
 * The lobby code in typed or pasted text: in any case, with spaces or dashes, or as a complete link. Text
 * without a code is returned unchanged, and the service refuses it.
 */
export function lobbyCode(text: string): string {
  const plain = (part: string) =>
    part
      .replace(surroundings, "")
      .replace(/[\uff01-\uff5e]/g, (sign) => String.fromCharCode(sign.charCodeAt(0) - 0xfee0))
      .replace(decoration, "");
  const parts = [text, ...text.split(/[\s/?#&=:]+/)].map(plain);
  const codes = parts.filter((part) => codePattern.test(part));
  const asIssued = codes.filter((one) => one === one.toUpperCase());
  return (asIssued.at(-1) ?? codes.at(-1) ?? text).toUpperCase();
}
