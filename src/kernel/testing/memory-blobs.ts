/** Blobs of a journal in memory, by digest. */
import { createHash } from "node:crypto";
import { Fault } from "../../abi/errors.ts";

export class MemoryBlobs {
  readonly #byDigest = new Map<string, Uint8Array>();

  async put(bytes: Uint8Array): Promise<string> {
    const digest = createHash("sha256").update(bytes).digest("hex");
    this.#byDigest.set(digest, bytes.slice());
    return digest;
  }

  async get(digest: string): Promise<Uint8Array> {
    const found = this.#byDigest.get(digest);
    if (found === undefined) throw new Fault({ code: "NOT_FOUND", message: `no blob ${digest}` });
    return found;
  }
}
