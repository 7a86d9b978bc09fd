/** The contexts of a process: its own, and those that it has made. They are freed with it. */
import type { CtxId } from "../../abi/ids.ts";
import type { ContextSpaces } from "../context/spaces.ts";
import { LIMITS } from "../limits.ts";

export class OwnContexts {
  readonly #all = new Set<CtxId>();
  #main = 0 as CtxId;

  /** Which its loop works in; 0: it has none. */
  get main(): CtxId {
    return this.#main;
  }

  get size(): number {
    return this.#all.size;
  }

  has(cid: CtxId): boolean {
    return this.#all.has(cid);
  }

  /** An empty one to work in, in place of the one it had. */
  open(spaces: ContextSpaces): CtxId {
    if (this.#all.has(this.#main)) this.free(spaces, this.#main);
    this.#main = this.alloc(spaces, LIMITS.contextMessages);
    return this.#main;
  }

  alloc(spaces: ContextSpaces, messages: number): CtxId {
    const cid = spaces.alloc(messages);
    this.#all.add(cid);
    return cid;
  }

  free(spaces: ContextSpaces, cid: CtxId): void {
    spaces.free(cid);
    this.#all.delete(cid);
  }

  freeAll(spaces: ContextSpaces): void {
    for (const cid of this.#all) this.free(spaces, cid);
  }
}
