/**
 * The hash chain of each process's history: every record's hash covers the hash before it, so a record cannot be
 * changed, removed or inserted without changing all later hashes. Outside programs can check it. With H = SHA-256 and ‖
 * for concatenated bytes:
 *
 *   genesis = H("crux-journal-1" ‖ kernelId ‖ proc), both UUIDs in text form. A history that begins with
 *             `process.forked` has the hash of record `at` of `from` instead; the plain genesis, if there is none.
 *   hash    = H(hash of the previous record, or genesis
 *               ‖ JSON.stringify([lsn, proc, seq, epoch, pid, kind, v, call ?? null, at, mono]) ‖ "\n" ‖ body)
 *
 * Text is UTF-8; `body` is the text as stored (the column of that name); numbers are written as JavaScript writes them.
 */
import { hash } from "node:crypto";

const HASH_BYTES = 32;

/** A row of `records` without its hash. */
export interface StoredRecord {
  readonly lsn: number;
  readonly proc: string;
  readonly pid: number;
  readonly seq: number;
  readonly epoch: number;
  readonly kind: string;
  readonly v: number;
  readonly call: string | null;
  readonly at: number;
  readonly mono: number;
  readonly body: string;
}

export function genesis(kernelId: string, proc: string): Uint8Array {
  return hash("sha256", `crux-journal-1${kernelId}${proc}`, "buffer");
}

export function chainHash(previous: Uint8Array, stored: StoredRecord): Uint8Array {
  const { lsn, proc, seq, epoch, pid, kind, v, call, at, mono, body } = stored;
  const text = `${JSON.stringify([lsn, proc, seq, epoch, pid, kind, v, call, at, mono])}\n${body}`;
  const bytes = roomFor(text);
  bytes.set(previous);
  const length = HASH_BYTES + bytes.write(text, HASH_BYTES);
  return hash("sha256", bytes.subarray(0, length), "buffer");
}

/** Reused for every record that is not large: its contents do not outlive a call. */
const SCRATCH = Buffer.allocUnsafeSlow(HASH_BYTES + 3 * 4096);

function roomFor(text: string): Buffer {
  // a UTF-16 unit takes at most three bytes; a large text is measured
  if (text.length <= 4096) return SCRATCH;
  return Buffer.allocUnsafe(HASH_BYTES + Buffer.byteLength(text));
}

/** The last record of a process. */
export interface Tail {
  readonly proc: string;
  readonly seq: number;
  readonly hash: Uint8Array;
}

/**
 * One hash over the last record of every process and over the previous root (`null`: this is the first root). Leaves,
 * by rising `proc`: H(0x00 ‖ JSON.stringify([proc, seq]) ‖ "\n" ‖ hash). Each level joins pairs, H(0x01 ‖ left ‖
 * right); an odd last node moves up unchanged. The root: H(0x02 ‖ previous root ‖ top); 32 zero bytes stand for no
 * previous root, and for the top if there are no tails.
 */
export function anchorRoot(tails: readonly Tail[], previous: Uint8Array | null): Uint8Array {
  const tree = new AnchorTree();
  for (const tail of [...tails].sort((a, b) => (a.proc < b.proc ? -1 : a.proc > b.proc ? 1 : 0)))
    tree.add(tail);
  return tree.root(previous);
}

/** The same, made as the tails come. Only whole subtrees are held, so it is small however many tails there are. */
export class AnchorTree {
  /** Whole subtrees from left to right, each lower than the one before it, with its height. */
  readonly #whole: { readonly height: number; readonly node: Uint8Array }[] = [];
  count = 0;

  /** By rising `proc`. */
  add({ proc, seq, hash: last }: Tail): void {
    let [height, node] = [0, join(0, Buffer.from(`${JSON.stringify([proc, seq])}\n`), last)];
    for (let left = this.#whole.at(-1); left?.height === height; left = this.#whole.at(-1)) {
      this.#whole.pop();
      [height, node] = [height + 1, join(1, left.node, node)];
    }
    this.#whole.push({ height, node });
    this.count++;
  }

  root(previous: Uint8Array | null): Uint8Array {
    const none = new Uint8Array(HASH_BYTES);
    const nodes = this.#whole.map(({ node }) => node);
    const top = nodes.length === 0 ? none : nodes.reduceRight((right, left) => join(1, left, right));
    return join(2, previous ?? none, top);
  }
}

function join(tag: number, left: Uint8Array, right: Uint8Array): Uint8Array {
  return hash("sha256", Buffer.concat([Uint8Array.of(tag), left, right]), "buffer");
}
