/** The contexts of a process: its main one and those it has allocated. They are freed when the process ends. */
import type { CtxId } from "../../abi/ids.ts";
import type { ContextSpaces } from "../context/spaces.ts";
import { LIMITS } from "../limits.ts";

export class OwnContexts {
  readonly #all = new Set<CtxId>();
  #main = 0 as CtxId;

  /** The context in which its loop works; 0: none. */
  get main(): CtxId {
    return this.#main;
  }

  get size(): number {
    return this.#all.size;
  }

  has(cid: CtxId): boolean {
    return this.#all.has(cid);
  }

  /** Replaces the main context with an empty one. */
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
