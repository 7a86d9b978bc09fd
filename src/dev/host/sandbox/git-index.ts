/**
 * Whether the index of a repository names places in a git directory. git believes its index: `git checkout -- .` of the user
 * writes what stands there, also to `.git/hooks`, where the next git command runs it. gitformat-index(5) describes the file;
 * where git and this reader could come to other entries, the index counts as strange.
 */

const HEAD_BYTES = 12;
/** Of an entry, before its hash. */
const STAT_BYTES = 40;
/** Of the two formats of objects. */
export type HashBytes = 20 | 32;
const EXTENDED = 0x4000;
const NAME_BITS = 0x0fff;
const SLASH = 0x2f;

interface Read {
  /** Where each entry begins, and where the last ends. */
  readonly starts: readonly number[];
  readonly end: number;
  readonly isStrange: boolean;
}

/** `bytes`: an index, or the part of it that several share (`sharedindex.…`). */
export function isStrangeIndex(bytes: Buffer, hash: HashBytes): boolean {
  const read = entriesOf(bytes, hash);
  return read === undefined || read.isStrange || !hasOwnOrder(bytes, hash, read);
}

/** undefined: it is no index. */
function entriesOf(bytes: Buffer, hash: HashBytes): Read | undefined {
  if (bytes.length < HEAD_BYTES + hash || bytes.toString("latin1", 0, 4) !== "DIRC") return undefined;
  const [version, count] = [bytes.readUInt32BE(4), bytes.readUInt32BE(8)];
  if (version < 2 || version > 4) return undefined;
  const starts: number[] = [];
  let isStrange = false;
  let name: Buffer = Buffer.alloc(0);
  let at = HEAD_BYTES;
  for (let n = 0; n < count; n++) {
    starts.push(at);
    const flagsAt = at + STAT_BYTES + hash;
    if (flagsAt + 4 > bytes.length) return undefined;
    const flags = bytes.readUInt16BE(flagsAt);
    const nameAt = flagsAt + (version > 2 && (flags & EXTENDED) !== 0 ? 4 : 2);
    const found = version === 4 ? shortName(bytes, nameAt, flags, name) : wholeName(bytes, nameAt, flags);
    if (found === undefined) return undefined;
    name = found.name;
    at = version === 4 ? found.end + 1 : at + ((found.end - at + 8) & ~7);
    if (at > bytes.length - hash) return undefined;
    isStrange ||= isGitPlace(name);
  }
  return { starts, end: at, isStrange };
}

interface Name {
  readonly name: Buffer;
  /** Of its bytes in the file. */
  readonly end: number;
}

function wholeName(bytes: Buffer, at: number, flags: number): Name | undefined {
  const length = flags & NAME_BITS;
  const end = length === NAME_BITS ? bytes.indexOf(0, at) : at + length;
  return end < at || end >= bytes.length ? undefined : { name: bytes.subarray(at, end), end };
}

/** Version 4: how many bytes of the name before are dropped, and what follows. */
function shortName(bytes: Buffer, at: number, flags: number, before: Buffer): Name | undefined {
  let from = at;
  let dropped = (bytes[from] ?? 0) & 0x7f;
  while (((bytes[from++] ?? 0) & 0x80) !== 0) {
    if (from - at > 4) return undefined;
    dropped = (dropped + 1) * 128 + ((bytes[from] ?? 0) & 0x7f);
  }
  if (dropped > before.length) return undefined;
  const kept = before.subarray(0, before.length - dropped);
  const length = flags & NAME_BITS;
  const end = length === NAME_BITS ? bytes.indexOf(0, from) : from + length - kept.length;
  if (end < from || end >= bytes.length) return undefined;
  return { name: Buffer.concat([kept, bytes.subarray(from, end)]), end };
}

function isGitPlace(name: Buffer): boolean {
  if (name.includes(0) || name[0] === SLASH) return true;
  return name.includes(".") && name.toString("latin1").split("/").some(isGitWord);
}

function isGitWord(word: string): boolean {
  return word === "." || word === ".." || word.toLowerCase() === ".git";
}

/** git reads a large index in parts, by the places that its extensions name: they must be those of the entries. */
function hasOwnOrder(bytes: Buffer, hash: HashBytes, { starts, end }: Read): boolean {
  const last = bytes.length - hash;
  const endMark = last - 8 - 4 - hash;
  if (endMark >= end && bytes.toString("latin1", endMark, endMark + 4) === "EOIE")
    if (bytes.readUInt32BE(endMark + 8) !== end) return false;
  for (let at = end; at + 8 <= last; ) {
    const [kind, size] = [bytes.toString("latin1", at, at + 4), bytes.readUInt32BE(at + 4)];
    const body = bytes.subarray(at + 8, at + 8 + size);
    if (kind === "IEOT" && !areParts(body, starts)) return false;
    at += 8 + size;
  }
  return true;
}

/** A version, and the place and number of the entries of each part. */
function areParts(body: Buffer, starts: readonly number[]): boolean {
  let n = 0;
  for (let at = 4; at + 8 <= body.length; at += 8) {
    if (body.readUInt32BE(at) !== starts[n]) return false;
    n += body.readUInt32BE(at + 4);
  }
  return n === starts.length;
}
