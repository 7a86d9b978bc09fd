import { Running } from "./running.ts";

interface Store {
  readonly bytes: Uint8Array;
  /** How many of them are written. */
  used: number;
}

/** The first `length` bytes of a store, which never change; what continues them differently may have written after them. */
export interface Written {
  readonly store: Store;
  readonly length: number;
}

export const NOTHING: Written = { store: { bytes: new Uint8Array(), used: 0 }, length: 0 };
/** How much larger than needed a store is made. */
const ROOM = 1.25;
const encoder = new TextEncoder();

/** The text of lists that grow at their end, encoded once; a part is only encoded when it is new (running.ts). */
export class GrownBytes<Part extends object> {
  readonly #running: Running<Part, Written>;

  constructor(spell: (part: Part, isFirst: boolean) => string) {
    this.#running = new Running(NOTHING, (before, part) =>
      continued(before, encoder.encode(spell(part, before.length === 0))),
    );
  }

  /** Not to be changed. */
  of(parts: readonly Part[]): Uint8Array {
    return bytesOf(this.#running.of(parts));
  }
}

/** Not to be changed. */
export function bytesOf({ store, length }: Written): Uint8Array {
  return store.bytes.subarray(0, length);
}

/** Texts are encoded. */
export function joinedBytes(parts: readonly (Uint8Array | string)[]): Uint8Array {
  const chunks = parts.map((part) => (typeof part === "string" ? encoder.encode(part) : part));
  const whole = new Uint8Array(chunks.reduce((size, { length }) => size + length, 0));
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

/** Copies `more` behind the bytes; those of before are copied only when their store is full. */
export function continued({ store, length }: Written, more: Uint8Array): Written {
  const used = length + more.length;
  const into = store.used === length && used <= store.bytes.length ? store : larger(store, length, used);
  into.bytes.set(more, length);
  into.used = used;
  return { store: into, length: used };
}

function larger({ bytes }: Store, length: number, least: number): Store {
  const store = { bytes: new Uint8Array(Math.ceil(least * ROOM)), used: length };
  store.bytes.set(bytes.subarray(0, length));
  return store;
}
