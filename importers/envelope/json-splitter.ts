import { isUtf8 } from "node:buffer";

/** Maximal bytes of a member name. */
const maxNameBytes = 1024;

/** How to read a member. */
export interface MemberRule {
  /** Limit for the value, or for one element of it. */
  maxBytes: number;
  /** The value is a list that is yielded element by element. */
  isStreamed?: boolean;
}

/** A piece of the document: a whole member, or one element of a streamed list. */
export interface JsonPiece {
  member: string;
  /** Position in the list; null for a whole member. */
  index: number | null;
  /** Bytes of the document before it. */
  offset: number;
  bytes: Buffer;
}

/** Text of a piece; throws SyntaxError for bytes that are not UTF-8. */
export function textOf({ member, bytes }: Pick<JsonPiece, "member" | "bytes">): string {
  if (!isUtf8(bytes)) throw new SyntaxError(`a value of ${member} is not UTF-8`);
  return bytes.toString("utf8");
}

const quote = 0x22;
const backslash = 0x5c;
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d];
const [comma, colon] = [0x2c, 0x3a];
const byteOrderMark = [0xef, 0xbb, 0xbf];
/** Stored names of unknown members, for messages. */
const maxUnknown = 20;
const isBlank = (byte: number) => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

type Expectation = "document" | "key" | "colon" | "value" | "element" | "end-of-member" | "nothing";

/**
 * Splits a stream with one JSON object into pieces, in bounded memory. It only finds the ends of values; JSON.parse
 * validates each piece. Members without a rule are skipped, and the first of their names are noted. A leading byte
 * order mark is skipped. Throws SyntaxError for malformed structure, a value above its limit, or a repeated member.
 *
 * Splits 12 MiB in 31 ms; the tokenizer of @streamparser/json alone took 329 ms and buffers texts of any length,
 * stream-json took 2.4 s and is not meant for untrusted files (`npm run bench -- micro archive`, "the same again": 127 ms).
 */
export class JsonSplitter {
  readonly #ruleOf: (member: string) => MemberRule | undefined;
  /** Members with a rule, so far. */
  readonly seen = new Set<string>();
  /** Names of members without a rule, so far. */
  readonly unknown = new Set<string>();
  /** Bytes of a byte order mark, so far. */
  #marked = 0;
  /** Null for a skipped member. */
  #rule: MemberRule | null = null;
  #expect: Expectation = "document";
  #member = "";
  #index = 0;
  #isInList = false;
  #mayClose = true;
  /** Bytes of the current piece; null between pieces. */
  #parts: Buffer[] | null = null;
  #size = 0;
  /** Bytes before the current chunk, and before the current piece. */
  #passed = 0;
  #offset = 0;
  #depth = 0;
  #isInText = false;
  #isEscaped = false;
  #isScalar = false;

  constructor(ruleOf: (member: string) => MemberRule | undefined) {
    this.#ruleOf = ruleOf;
  }

  /** Yields the pieces that these bytes complete. */
  *push(chunk: Buffer): Generator<JsonPiece> {
    let at = 0;
    while (at < chunk.length) {
      if (this.#parts === null) {
        const byte = chunk[at] ?? 0;
        if (isBlank(byte)) at++;
        else if (this.#begin(byte)) at++;
        else this.#offset = this.#passed + at;
        continue;
      }
      const end = this.#findEnd(chunk, at);
      this.#keep(chunk.subarray(at, end ?? chunk.length));
      at = end ?? chunk.length;
      if (end !== null) {
        const piece = this.#finish();
        if (piece !== null) yield piece;
      }
    }
    this.#passed += chunk.length;
  }

  /** To be called after the last bytes. */
  end(): void {
    if (this.#expect !== "nothing" || this.#parts !== null)
      throw new SyntaxError("the document ends early");
  }

  /** Handles a byte between pieces; false for the first byte of a piece. */
  #begin(byte: number): boolean {
    switch (this.#expect) {
      case "document":
        if (byte === byteOrderMark[this.#marked]) {
          this.#marked++;
          return true;
        }
        if (byte !== openBrace || this.#marked % byteOrderMark.length !== 0)
          throw new SyntaxError("the document is not an object");
        this.#expect = "key";
        return true;
      case "key":
        if (byte === closeBrace && this.#mayClose) return this.#next("nothing");
        if (byte !== quote) throw new SyntaxError("a member has no name");
        return this.#start(byte);
      case "colon":
        if (byte !== colon) throw new SyntaxError(`there is no colon after ${this.#member}`);
        return this.#next("value");
      case "value":
        if (byte !== openBracket || this.#rule?.isStreamed !== true) return this.#start(byte);
        this.#isInList = true;
        this.#index = 0;
        this.#mayClose = true;
        return this.#next("element");
      case "element":
        if (byte !== closeBracket || !this.#mayClose) return this.#start(byte);
        this.#isInList = false;
        return this.#next("end-of-member");
      case "end-of-member":
        return this.#separate(byte);
      default:
        throw new SyntaxError("there is more after the document");
    }
  }

  #next(expect: Expectation): true {
    this.#expect = expect;
    return true;
  }

  #separate(byte: number): true {
    if (byte === comma) {
      this.#mayClose = false;
      return this.#next(this.#isInList ? "element" : "key");
    }
    if (this.#isInList && byte === closeBracket) {
      this.#isInList = false;
      return true;
    }
    if (!this.#isInList && byte === closeBrace) return this.#next("nothing");
    throw new SyntaxError(`there is no comma after a value of ${this.#member}`);
  }

  #start(byte: number): false {
    this.#parts = [];
    this.#size = 0;
    this.#depth = 0;
    this.#isInText = false;
    this.#isEscaped = false;
    this.#isScalar = byte !== quote && byte !== openBrace && byte !== openBracket;
    return false;
  }

  /** Position after the piece; null if it continues in the next chunk. */
  #findEnd(chunk: Buffer, from: number): number | null {
    if (this.#isScalar) return endOfScalar(chunk, from);
    const { length } = chunk;
    // Hot path: every byte of an envelope passes here, so the loops are tight and use local variables.
    let depth = this.#depth;
    let isInText = this.#isInText;
    let at = this.#isEscaped ? from + 1 : from;
    let end: number | null = null;
    while (at < length && end === null) {
      if (isInText) {
        while (at < length) {
          const byte = chunk[at++];
          if (byte === backslash) at++;
          else if (byte === quote) {
            isInText = false;
            break;
          }
        }
        if (!isInText && depth === 0) end = at;
        continue;
      }
      const byte = chunk[at++] ?? 0;
      if (byte === quote) isInText = true;
      // Brackets and braces differ by one bit.
      else if ((byte | 0x20) === openBrace) depth++;
      else if ((byte | 0x20) === closeBrace && --depth === 0) end = at;
    }
    this.#depth = depth;
    this.#isInText = isInText;
    this.#isEscaped = at > length;
    return end;
  }

  #keep(bytes: Buffer): void {
    this.#size += bytes.length;
    const isName = this.#expect === "key";
    if (!isName && this.#rule === null) return;
    const most = isName ? maxNameBytes : (this.#rule?.maxBytes ?? 0);
    if (this.#size > most) {
      const what = isName ? "the name of a member" : `a value of ${this.#member}`;
      throw new SyntaxError(`${what} has more than ${most} bytes`);
    }
    this.#parts?.push(bytes);
  }

  #enter(member: string): void {
    this.#member = member;
    this.#rule = this.#ruleOf(member) ?? null;
    if (this.#rule === null) {
      if (this.unknown.size < maxUnknown) this.unknown.add(member);
      return;
    }
    if (this.seen.has(member)) throw new SyntaxError(`${member} comes twice`);
    this.seen.add(member);
  }

  #finish(): JsonPiece | null {
    const member = this.#member;
    const offset = this.#offset;
    const parts = this.#parts ?? [];
    this.#parts = null;
    if (this.#size === 0) throw new SyntaxError(`a value of ${member} is missing`);
    const [first] = parts;
    const bytes = parts.length === 1 && first !== undefined ? first : Buffer.concat(parts);
    if (this.#expect === "key") {
      this.#enter(String(JSON.parse(textOf({ member, bytes }))));
      this.#expect = "colon";
      return null;
    }
    const index = this.#isInList ? this.#index++ : null;
    this.#expect = "end-of-member";
    return this.#rule === null ? null : { member, index, offset, bytes };
  }
}

function endOfScalar(chunk: Buffer, from: number): number | null {
  for (let at = from; at < chunk.length; at++) {
    const byte = chunk[at] ?? 0;
    if (byte === comma || byte === closeBrace || byte === closeBracket || isBlank(byte)) return at;
  }
  return null;
}
