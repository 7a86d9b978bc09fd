/** What bytes were made of, for whoever sums them up: the sum of lists that have grown continues from an earlier one. */
export interface RequestParts {
  /** What is not in the lists. */
  readonly text: string;
  /** The same part of a list that has grown is the same object, and does not change. */
  readonly lists: readonly (readonly object[])[];
}

const PARTS = new WeakMap<Uint8Array, RequestParts>();

/** Nobody changes the bytes from now on. */
export function madeOf(parts: RequestParts, bytes: Uint8Array): Uint8Array {
  PARTS.set(bytes, parts);
  return bytes;
}

/** undefined: they are known as bytes alone. */
export function partsOf(bytes: Uint8Array): RequestParts | undefined {
  return PARTS.get(bytes);
}
